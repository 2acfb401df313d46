// TensorIndex, Slice, None and Ellipsis: the arguments of x.index({...}).
#pragma once

#include <ebb/autograd/variable.h>

#include <concepts>
#include <cstdint>
#include <iosfwd>
#include <vector>

namespace ebb::indexing {

/// A new dimension of size 1, or a missing bound of a Slice.
inline constexpr nullopt_t None = nullopt;

/// All remaining dimensions: `x.index({"...", 0})`, `x.index({Ellipsis, 0})`.
struct EllipsisIndexType {};
inline constexpr EllipsisIndexType Ellipsis{};

/// Bounds beyond every dimension. INDEX_MAX is the stop of a Slice without a stop.
inline constexpr std::int64_t INDEX_MIN = INT64_MIN, INDEX_MAX = INT64_MAX;

/// start:stop:step. Missing bounds are the ends of the dimension. Negative bounds count from the end. The
/// step is positive.
class Slice {
 public:
  constexpr Slice(optional<std::int64_t> start = nullopt, optional<std::int64_t> stop = nullopt,
                  optional<std::int64_t> step = nullopt)
      : start_(start.value_or(0)), stop_(stop.value_or(INDEX_MAX)), step_(step.value_or(1)) {
    EBB_CHECK(step_ > 0, "Slice: step must be greater than zero, got ", step_, ".");
  }
  /// Returns the start; 0 if it is missing.
  constexpr std::int64_t start() const { return start_; }
  /// Returns the stop; INDEX_MAX if it is missing.
  constexpr std::int64_t stop() const { return stop_; }
  constexpr std::int64_t step() const { return step_; }

 private:
  std::int64_t start_, stop_, step_;
};

/// One index: None, "...", an integer, a bool, a Slice or a tensor (torch: at::indexing::TensorIndex).
class EBB_API TensorIndex {
 public:
  enum class Kind : std::uint8_t { none, ellipsis, integer, boolean, slice, tensor };

  TensorIndex(nullopt_t) {}
  TensorIndex(EllipsisIndexType) : kind_(Kind::ellipsis) {}
  /// Accepts only "...".
  TensorIndex(const char* text);
  template <std::integral T>
  TensorIndex(T value)
      : kind_(std::is_same_v<T, bool> ? Kind::boolean : Kind::integer),
        integer_(static_cast<std::int64_t>(value)) {}
  TensorIndex(Slice slice) : kind_(Kind::slice), slice_(slice) {}
  TensorIndex(Variable tensor) : kind_(Kind::tensor), tensor_(std::move(tensor)) {}

  bool is_none() const { return kind_ == Kind::none; }
  bool is_ellipsis() const { return kind_ == Kind::ellipsis; }
  bool is_integer() const { return kind_ == Kind::integer; }
  bool is_boolean() const { return kind_ == Kind::boolean; }
  bool is_slice() const { return kind_ == Kind::slice; }
  bool is_tensor() const { return kind_ == Kind::tensor; }
  std::int64_t integer() const { return integer_; }
  bool boolean() const { return integer_ != 0; }
  const Slice& slice() const { return slice_; }
  const Variable& tensor() const { return tensor_; }

 private:
  Kind kind_ = Kind::none;
  std::int64_t integer_ = 0;
  Slice slice_;
  Variable tensor_;
};

/// Prints "1:5:2". Missing bounds are 0 and INDEX_MAX.
EBB_API std::ostream& operator<<(std::ostream& out, const Slice& slice);
/// Prints "None", "...", the integer, true or false, the slice, or the tensor.
EBB_API std::ostream& operator<<(std::ostream& out, const TensorIndex& index);
/// Prints "(None, ..., 0)".
EBB_API std::ostream& operator<<(std::ostream& out, const std::vector<TensorIndex>& indices);

/// Returns x[indices]. The result is a view if `indices` contains only None, "...", slices, integers and 0-d
/// integer tensors, and otherwise a copy.
EBB_API Variable get_item(const Variable& x, ArrayRef<TensorIndex> indices);
/// Sets x[indices] = value. The value is broadcast, and converted to x's dtype unless the indices contain
/// tensors.
EBB_API void set_item(const Variable& x, ArrayRef<TensorIndex> indices, const Variable& value,
                      bool accumulate = false);
EBB_API void set_item(const Variable& x, ArrayRef<TensorIndex> indices, const Scalar& value);
/// Returns a copy of x in which x[indices] is replaced by `value`.
EBB_API Variable put_item(const Variable& x, ArrayRef<TensorIndex> indices, const Variable& value,
                          bool accumulate = false);

}  // namespace ebb::indexing
