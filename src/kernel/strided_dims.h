// Strided dimensions. Every iteration over strided arrays begins by merging the dimensions that are adjacent
// in all arrays. StridedPosition then iterates over the elements.
#pragma once

#include <ebb/core/array_ref.h>
#include <ebb/core/small_vector.h>

#include <array>
#include <cstdint>
#include <cstdlib>

namespace ebb {

/// Indices of dimensions, the innermost first. Dimensions of size 1 are omitted.
using NestingOrder = SmallVector<int, 6>;

/// Returns row-major order: the last dimension is the innermost.
inline NestingOrder row_major_order(IntArrayRef sizes) {
  NestingOrder order;
  for (int d = static_cast<int>(sizes.size()); d-- > 0;)
    if (sizes[d] != 1) order.push_back(d);
  return order;
}

/// Sorts the dimensions by `rank(d)`, the smallest innermost. Dimensions of equal rank are in row-major
/// order. It uses insertion sort, because dimensions are few and nearly always sorted already.
template <class Rank>
NestingOrder nesting_order(IntArrayRef sizes, const Rank& rank) {
  NestingOrder order;
  for (int d = static_cast<int>(sizes.size()); d-- > 0;) {
    if (sizes[d] == 1) continue;
    std::size_t at = order.size();
    while (at > 0 && rank(order[at - 1]) > rank(d)) --at;
    order.insert(order.data() + at, d);
  }
  return order;
}

/// Calls emit(size, strides) for the merged dimensions, the innermost first. `stride(i, d)` is the stride of
/// array i along dimension d. A dimension is merged with the next inner one if, in every array, its stride is
/// the inner stride times the inner size.
template <int N, class Stride, class Emit>
void merge_dims(IntArrayRef sizes, const NestingOrder& order, const Stride& stride, const Emit& emit) {
  std::int64_t size = 1;
  std::array<std::int64_t, N> steps{};
  bool begun = false;
  for (const int d : order) {
    bool joins = begun;
    for (int i = 0; joins && i < N; ++i) joins = stride(i, d) == steps[i] * size;
    if (joins) {
      size *= sizes[d];
      continue;
    }
    if (begun) emit(size, steps);
    begun = true;
    size = sizes[d];
    for (int i = 0; i < N; ++i) steps[i] = stride(i, d);
  }
  if (begun) emit(size, steps);
}

/// The position of one element in N strided arrays, used by all CPU loops over such arrays. `Nest` is a small
/// view of their dimensions, the innermost first. It has dims(), size(dim), stride(array, dim), and the type
/// Places: a list with one index per dimension. If the number of dimensions is bounded, Places should be an
/// array, because an array stays in registers. Offsets and strides have the same unit, elements or bytes.
template <int N, class Nest>
class StridedPosition {
 public:
  using Offsets = std::array<std::int64_t, N>;

  StridedPosition(const Nest& nest, std::int64_t element) : nest_(nest), dims_(nest.dims()) {
    if constexpr (requires { at_.resize(std::size_t{}); }) at_.resize(static_cast<std::size_t>(dims_));
    if (dims_ == 0) return;
    for (int d = 0; d < dims_; ++d) {
      const std::int64_t size = nest.size(d);
      at_[d] = element % size;
      element /= size;
      for (int i = 0; i < N; ++i) offsets_[i] += at_[d] * nest.stride(i, d);
    }
    length_ = nest.size(0);
    place_ = at_[0];
    for (int i = 0; i < N; ++i) steps_[i] = nest.stride(i, 0);
  }

  const Nest& nest() const { return nest_; }
  const Offsets& offsets() const { return offsets_; }
  std::int64_t at(int dim) const { return dim == 0 ? place_ : at_[dim]; }
  /// Returns the number of elements left along the innermost dimension, including this one.
  std::int64_t left() const { return length_ - place_; }
  /// Returns the stride of an array along the innermost dimension.
  std::int64_t step(int array) const { return steps_[array]; }
  /// Advances by `count` elements, which must not pass the end of the innermost dimension.
  void advance(std::int64_t count) {
    if (place_ + count == length_) return carry();
    place_ += count;
    for (int i = 0; i < N; ++i) offsets_[i] += count * steps_[i];
  }

 private:
  void carry() {
    for (int i = 0; i < N; ++i) offsets_[i] -= place_ * steps_[i];
    place_ = 0;
    for (int d = 1; d < dims_; ++d) {
      for (int i = 0; i < N; ++i) offsets_[i] += nest_.stride(i, d);
      if (++at_[d] < nest_.size(d)) return;
      for (int i = 0; i < N; ++i) offsets_[i] -= at_[d] * nest_.stride(i, d);
      at_[d] = 0;
    }
  }

  Nest nest_;
  int dims_;
  typename Nest::Places at_;  // indices in all dimensions except the innermost
  std::int64_t place_ = 0;    // in the innermost dimension, which has `length_` elements and strides `steps_`
  std::int64_t length_ = 1;
  Offsets steps_{}, offsets_{};
};

}  // namespace ebb
