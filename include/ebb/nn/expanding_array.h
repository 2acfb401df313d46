// ExpandingArray: one value for all dimensions, or one for each.
#pragma once

#include <ebb/core/array_ref.h>

#include <array>
#include <initializer_list>

namespace ebb {

/// D values: `3` means {3, 3, ...} (torch::ExpandingArray).
template <std::size_t D, class T = std::int64_t>
class EBB_API ExpandingArray {
 public:
  ExpandingArray(std::initializer_list<T> list) : ExpandingArray(ArrayRef<T>(list)) {}
  ExpandingArray(const std::vector<T>& values) : ExpandingArray(ArrayRef<T>(values)) {}
  ExpandingArray(ArrayRef<T> values) {
    EBB_CHECK(values.size() == D, "Expected ", std::uint64_t{D}, " values, but instead got ",
              std::uint64_t{values.size()}, ". Give one value for all dimensions or one for each.");
    for (std::size_t i = 0; i < D; ++i) values_[i] = values[i];
  }
  ExpandingArray(T single) { values_.fill(single); }
  ExpandingArray(const std::array<T, D>& values) : values_(values) {}

  const std::array<T, D>& operator*() const { return values_; }
  std::array<T, D>& operator*() { return values_; }
  const std::array<T, D>* operator->() const { return &values_; }
  std::array<T, D>* operator->() { return &values_; }
  operator ArrayRef<T>() const { return ArrayRef<T>(values_.data(), D); }
  std::size_t size() const { return D; }

 protected:
  std::array<T, D> values_;
};

/// D optional values: `{nullopt, 7}` does not change the first size.
template <std::size_t D, class T = std::int64_t>
class EBB_API ExpandingArrayWithOptionalElem {
 public:
  ExpandingArrayWithOptionalElem(std::initializer_list<T> list) : values_(expand(ArrayRef<T>(list))) {}
  ExpandingArrayWithOptionalElem(std::initializer_list<optional<T>> list)
      : values_(expand(ArrayRef<optional<T>>(list))) {}
  ExpandingArrayWithOptionalElem(const std::vector<T>& values) : values_(expand(ArrayRef<T>(values))) {}
  ExpandingArrayWithOptionalElem(const std::vector<optional<T>>& values)
      : values_(expand(ArrayRef<optional<T>>(values))) {}
  ExpandingArrayWithOptionalElem(T single) { values_.fill(single); }

  const std::array<optional<T>, D>& operator*() const { return values_; }
  const std::array<optional<T>, D>* operator->() const { return &values_; }
  std::size_t size() const { return D; }

 private:
  template <class U>
  static std::array<optional<T>, D> expand(ArrayRef<U> values) {
    EBB_CHECK(values.size() == D, "Expected ", std::uint64_t{D}, " values, but instead got ",
              std::uint64_t{values.size()}, ". Give one value for all dimensions or one for each.");
    std::array<optional<T>, D> out;
    for (std::size_t i = 0; i < D; ++i) out[i] = values[i];
    return out;
  }
  std::array<optional<T>, D> values_;
};

/// Prints like torch: only the value if D is 1, otherwise "[2, 3]".
template <std::size_t D, class T>
void append_text(std::string& out, const ExpandingArray<D, T>& values) {
  using detail::append_text;
  using ebb::append_text;
  if constexpr (D == 1) {
    append_text(out, (*values)[0]);
  } else {
    out += '[';
    for (std::size_t i = 0; i < D; ++i) {
      if (i) out += ", ";
      append_text(out, (*values)[i]);
    }
    out += ']';
  }
}

}  // namespace ebb
