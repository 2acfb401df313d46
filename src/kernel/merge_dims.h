// Merges dimensions that are adjacent in several arrays. Every iteration over strided arrays begins with
// this.
#pragma once

#include <ebb/core/array_ref.h>
#include <ebb/core/small_vector.h>

#include <array>
#include <cstdint>
#include <cstdlib>

namespace ebb {

/// Numbers of dimensions, the innermost first; dimensions of size 1 are omitted.
using NestingOrder = SmallVector<int, 6>;

/// Returns row-major order: the last dimension is the innermost.
inline NestingOrder row_major_order(IntArrayRef sizes) {
  NestingOrder order;
  for (int d = static_cast<int>(sizes.size()); d-- > 0;)
    if (sizes[d] != 1) order.push_back(d);
  return order;
}

/// Sorts by `rank(d)`, the smallest innermost; equal ranks are in row-major order. An insertion sort, because
/// dimensions are few and nearly always sorted.
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
/// array i along dimension d. A dimension is merged into the one inside it if it continues that one in every
/// array.
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

}  // namespace ebb
