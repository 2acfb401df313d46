// Tags for options with named choices: `.reduction(ebb::kSum)`, `.padding(ebb::kSame)`.
#pragma once

#include <cstdint>
#include <type_traits>

namespace ebb {

namespace enumtype {
struct kLinear {
  static constexpr const char* name = "kLinear";
};
struct kConv1D {
  static constexpr const char* name = "kConv1D";
};
struct kConv2D {
  static constexpr const char* name = "kConv2D";
};
struct kConv3D {
  static constexpr const char* name = "kConv3D";
};
struct kConvTranspose1D {
  static constexpr const char* name = "kConvTranspose1D";
};
struct kConvTranspose2D {
  static constexpr const char* name = "kConvTranspose2D";
};
struct kConvTranspose3D {
  static constexpr const char* name = "kConvTranspose3D";
};
struct kSigmoid {
  static constexpr const char* name = "kSigmoid";
};
struct kTanh {
  static constexpr const char* name = "kTanh";
};
struct kReLU {
  static constexpr const char* name = "kReLU";
};
struct kGELU {
  static constexpr const char* name = "kGELU";
};
struct kSiLU {
  static constexpr const char* name = "kSiLU";
};
struct kMish {
  static constexpr const char* name = "kMish";
};
struct kLeakyReLU {
  static constexpr const char* name = "kLeakyReLU";
};
struct kFanIn {
  static constexpr const char* name = "kFanIn";
};
struct kFanOut {
  static constexpr const char* name = "kFanOut";
};
struct kConstant {
  static constexpr const char* name = "kConstant";
};
struct kReflect {
  static constexpr const char* name = "kReflect";
};
struct kReplicate {
  static constexpr const char* name = "kReplicate";
};
struct kCircular {
  static constexpr const char* name = "kCircular";
};
struct kNearest {
  static constexpr const char* name = "kNearest";
};
struct kBilinear {
  static constexpr const char* name = "kBilinear";
};
struct kBicubic {
  static constexpr const char* name = "kBicubic";
};
struct kTrilinear {
  static constexpr const char* name = "kTrilinear";
};
struct kArea {
  static constexpr const char* name = "kArea";
};
struct kNearestExact {
  static constexpr const char* name = "kNearestExact";
};
struct kSum {
  static constexpr const char* name = "kSum";
};
struct kMean {
  static constexpr const char* name = "kMean";
};
struct kMax {
  static constexpr const char* name = "kMax";
};
struct kNone {
  static constexpr const char* name = "kNone";
};
struct kBatchMean {
  static constexpr const char* name = "kBatchMean";
};
struct kZeros {
  static constexpr const char* name = "kZeros";
};
struct kBorder {
  static constexpr const char* name = "kBorder";
};
struct kReflection {
  static constexpr const char* name = "kReflection";
};
struct kRNN_TANH {
  static constexpr const char* name = "kRNN_TANH";
};
struct kRNN_RELU {
  static constexpr const char* name = "kRNN_RELU";
};
struct kLSTM {
  static constexpr const char* name = "kLSTM";
};
struct kGRU {
  static constexpr const char* name = "kGRU";
};
struct kValid {
  static constexpr const char* name = "kValid";
};
struct kSame {
  static constexpr const char* name = "kSame";
};
}  // namespace enumtype

inline constexpr enumtype::kLinear kLinear{};
inline constexpr enumtype::kConv1D kConv1D{};
inline constexpr enumtype::kConv2D kConv2D{};
inline constexpr enumtype::kConv3D kConv3D{};
inline constexpr enumtype::kConvTranspose1D kConvTranspose1D{};
inline constexpr enumtype::kConvTranspose2D kConvTranspose2D{};
inline constexpr enumtype::kConvTranspose3D kConvTranspose3D{};
inline constexpr enumtype::kSigmoid kSigmoid{};
inline constexpr enumtype::kTanh kTanh{};
inline constexpr enumtype::kReLU kReLU{};
inline constexpr enumtype::kGELU kGELU{};
inline constexpr enumtype::kSiLU kSiLU{};
inline constexpr enumtype::kMish kMish{};
inline constexpr enumtype::kLeakyReLU kLeakyReLU{};
inline constexpr enumtype::kFanIn kFanIn{};
inline constexpr enumtype::kFanOut kFanOut{};
inline constexpr enumtype::kConstant kConstant{};
inline constexpr enumtype::kReflect kReflect{};
inline constexpr enumtype::kReplicate kReplicate{};
inline constexpr enumtype::kCircular kCircular{};
inline constexpr enumtype::kNearest kNearest{};
inline constexpr enumtype::kBilinear kBilinear{};
inline constexpr enumtype::kBicubic kBicubic{};
inline constexpr enumtype::kTrilinear kTrilinear{};
inline constexpr enumtype::kArea kArea{};
inline constexpr enumtype::kNearestExact kNearestExact{};
inline constexpr enumtype::kSum kSum{};
inline constexpr enumtype::kMean kMean{};
inline constexpr enumtype::kMax kMax{};
inline constexpr enumtype::kNone kNone{};
inline constexpr enumtype::kBatchMean kBatchMean{};
inline constexpr enumtype::kZeros kZeros{};
inline constexpr enumtype::kBorder kBorder{};
inline constexpr enumtype::kReflection kReflection{};
inline constexpr enumtype::kRNN_TANH kRNN_TANH{};
inline constexpr enumtype::kRNN_RELU kRNN_RELU{};
inline constexpr enumtype::kLSTM kLSTM{};
inline constexpr enumtype::kGRU kGRU{};
inline constexpr enumtype::kValid kValid{};
inline constexpr enumtype::kSame kSame{};

namespace nn {

/// Stores one of the given tags, and converts from any of them. A std::variant of empty types would do the
/// same but compiles more slowly.
template <class First, class... More>
class OneOf {
  template <class T>
  static constexpr bool kAllowed = std::is_same_v<T, First> || (std::is_same_v<T, More> || ...);

 public:
  constexpr OneOf() = default;
  template <class Tag>
    requires kAllowed<Tag>
  constexpr OneOf(Tag) : index_(index_of<Tag>()), name_(Tag::name) {}
  /// Converts from another OneOf if this one allows all its tags.
  template <class... Others>
    requires(!std::is_same_v<OneOf<Others...>, OneOf> && (kAllowed<Others> && ...))
  constexpr OneOf(OneOf<Others...> other) {
    ((other.template is<Others>() ? (*this = OneOf(Others{}), 0) : 0), ...);
  }

  template <class Tag>
    requires kAllowed<Tag>
  constexpr bool is() const {
    return index_ == index_of<Tag>();
  }
  template <class Tag>
    requires kAllowed<Tag>
  friend constexpr bool operator==(OneOf a, Tag) {
    return a.template is<Tag>();
  }
  /// Returns the name of the tag, for example "kMean".
  constexpr const char* name() const { return name_; }

 private:
  template <class Tag>
  static constexpr std::uint8_t index_of() {
    std::uint8_t index = 0;
    bool found = std::is_same_v<Tag, First>;
    ((found || (++index, found = std::is_same_v<Tag, More>)), ...);
    return index;
  }
  std::uint8_t index_ = 0;
  const char* name_ = First::name;
};

}  // namespace nn

namespace enumtype {
/// Returns the name of a tag or of a OneOf, for example "kMean".
template <class Tag>
constexpr const char* get_enum_name(Tag tag) {
  if constexpr (requires { tag.name(); })
    return tag.name();
  else
    return Tag::name;
}
}  // namespace enumtype

}  // namespace ebb
