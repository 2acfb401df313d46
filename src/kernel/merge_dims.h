// Dimensions that several arrays walk in one go, joined: every walk over strided arrays starts here.
#pragma once

#include <ebb/core/array_ref.h>
#include <ebb/core/small_vector.h>

#include <array>
#include <cstdint>
#include <cstdlib>

namespace ebb {

/// Dimensions by number, the innermost first; those of size 1 are left out.
using NestingOrder = SmallVector<int, 6>;

/// Row-major: the last dimension innermost.
inline NestingOrder row_major_order(IntArrayRef sizes) {
  NestingOrder order;
  for (int d = static_cast<int>(sizes.size()); d-- > 0;)
    if (sizes[d] != 1) order.push_back(d);
  return order;
}

/// By `rank(d)`, the smallest innermost; among equals row-major. Few dimensions, nearly always in order.
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

/// Calls emit(size, strides) for the joined dimensions, the innermost first. `stride(i, d)` is the step of
/// array i along dimension d; a dimension joins the one inside it where it continues that one in every array.
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
