// The memory access of an elementwise kernel in one part of an iteration: vectors of `width` elements if the
// output allows, for any inputs. A pure function of shapes, strides and addresses.
#pragma once

#include "kernel/elementwise_plan.h"

namespace ebb {

/// The byte offset of an element, given its number, in at most three nested dimensions.
struct LevelIndex {
  FastDivisor sizes[2];  // of the two innermost dimensions
  std::int32_t strides[3] = {0, 0, 0};

  EBB_HD std::int32_t offset(std::uint32_t element) const {
    const std::uint32_t row = sizes[0].divide(element), plane = sizes[1].divide(row);
    return static_cast<std::int32_t>(element - row * sizes[0].divisor) * strides[0] +
           static_cast<std::int32_t>(row - plane * sizes[1].divisor) * strides[1] +
           static_cast<std::int32_t>(plane) * strides[2];
  }
};

/// The access to an operand's elements of a unit.
enum class Access : std::uint8_t {
  vector,   // one aligned load
  splat,    // one element for all
  indexed,  // element by element, at the offsets of `element`
};

/// A unit consists of `width` adjacent elements of the output; `plan` has the byte offsets of units. Elements
/// before the first aligned unit and after the last whole unit are processed one by one. Only a dense output
/// has such elements; then `element` gives the offset of any element of any operand.
template <int N>
struct MapPlan {
  IndexPlan<N> plan;
  std::uint32_t head = 0;       // elements before the first unit
  std::uint32_t remainder = 0;  // elements outside of units: the head and the tail
  // The difference between the element numbers of adjacent units: the width, or 0 if `element` counts within
  // a unit.
  std::uint32_t spacing = 0;
  std::int32_t skip[N] = {};
  LevelIndex element[N];
  Access access[N] = {};
};

namespace detail {

/// Computes the operand's own dimensions in the numbering of a dense output, with adjacent ones merged.
/// Returns false if more than three remain.
template <int N>
bool level_index(const ElementwisePlan<N>& plan, int operand, LevelIndex& out) {
  std::int64_t sizes[3] = {1, 1, 1}, strides[3] = {0, 0, 0};
  int levels = 0;
  for (int d = 0; d < plan.dims; ++d) {
    const std::int64_t stride = plan.strides[operand][d];
    if (levels > 0 && stride == strides[levels - 1] * sizes[levels - 1]) {
      sizes[levels - 1] *= plan.sizes[d];
      continue;
    }
    if (levels == 3) return false;
    sizes[levels] = plan.sizes[d];
    strides[levels++] = stride;
  }
  for (int l = 0; l < 3; ++l) out.strides[l] = static_cast<std::int32_t>(strides[l]);
  for (int l = 0; l < 2; ++l)
    out.sizes[l] = l + 1 < levels ? FastDivisor(static_cast<std::uint32_t>(sizes[l])) : kUndivided;
  return true;
}

template <int N>
std::int64_t reach(const ElementwisePlan<N>& plan, int operand) {
  std::int64_t bytes = 0;
  for (int d = 0; d < plan.dims; ++d) bytes += (plan.sizes[d] - 1) * std::abs(plan.strides[operand][d]);
  return bytes;
}

template <int N>
bool is_dense(const ElementwisePlan<N>& plan, int operand, std::int64_t size) {
  for (int d = 0; d < plan.dims; ++d) {
    if (plan.strides[operand][d] != size) return false;
    size *= plan.sizes[d];
  }
  return true;
}

// Rows: the innermost dimension consists of whole vectors in every array, or of one repeated element.
template <int N>
bool plan_rows(MapPlan<N>& out, const ElementwisePlan<N>& plan, const std::uintptr_t (&addresses)[N],
               const int (&sizes)[N], int width) {
  if (plan.dims < 2 || plan.sizes[0] % width != 0) return false;
  for (int i = 0; i < N; ++i) {
    if (addresses[i] == 0) continue;
    const std::int64_t bytes = std::int64_t{width} * sizes[i];
    if (i > 0 && plan.strides[i][0] == 0) {
      out.access[i] = Access::splat;
      continue;
    }
    out.access[i] = Access::vector;
    if (plan.strides[i][0] != sizes[i] || addresses[i] % static_cast<std::uintptr_t>(bytes) != 0)
      return false;
    for (int d = 1; d < plan.dims; ++d)
      if (plan.strides[i][d] % bytes != 0) return false;
  }
  for (int i = 0; i < N; ++i) out.skip[i] = 0;
  out.head = out.remainder = 0;
  out.spacing = static_cast<std::uint32_t>(width);
  index_plan(out.plan, plan, width);
  return true;
}

// Run: a dense output is one run of vectors, wherever it starts, and so are inputs with the same layout and
// alignment. Other inputs are read element by element if adjacent elements are contiguous or the whole input
// fits the cache.
template <int N>
bool plan_run(MapPlan<N>& out, const ElementwisePlan<N>& plan, const std::uintptr_t (&addresses)[N],
              const int (&sizes)[N], int width) {
  constexpr std::int64_t kCached = 32 << 10;
  if (!is_dense(plan, 0, sizes[0])) return false;
  const auto misplaced = [&](int i) {  // elements since the last vector boundary
    return static_cast<std::int64_t>(addresses[i] / static_cast<std::uintptr_t>(sizes[i]) %
                                     static_cast<std::uintptr_t>(width));
  };
  const std::int64_t head = (width - misplaced(0)) % width;
  if (plan.numel - head < width) return false;
  ElementwisePlan<N> units;
  units.dims = 1;
  units.numel = units.sizes[0] = (plan.numel - head) / width;
  for (int i = 0; i < N; ++i) {
    units.strides[i][0] = out.skip[i] = 0;
    if (addresses[i] == 0) continue;
    if (!level_index(plan, i, out.element[i])) return false;
    if (is_dense(plan, i, sizes[i]) && misplaced(i) == misplaced(0)) {
      out.access[i] = Access::vector;
      out.skip[i] = static_cast<std::int32_t>(head * sizes[i]);
      units.strides[i][0] = std::int64_t{width} * sizes[i];
      continue;
    }
    const std::int64_t bytes = reach(plan, i), inner = plan.strides[i][0];
    out.access[i] = bytes == 0 ? Access::splat : Access::indexed;
    if (inner != 0 && inner != sizes[i] && bytes > kCached) return false;
  }
  index_plan(out.plan, units);
  out.head = static_cast<std::uint32_t>(head);
  out.spacing = static_cast<std::uint32_t>(width);
  out.remainder = static_cast<std::uint32_t>(plan.numel - units.numel * width);
  return true;
}

}  // namespace detail

/// Plans vectors of `width` elements; returns false if the iteration must be element by element. `plan` must
/// fit 32 bits. addresses[i] is the address of operand i, or 0 for a single value; sizes are element sizes in
/// bytes.
template <int N>
bool plan_vectors(MapPlan<N>& out, const ElementwisePlan<N>& plan, const std::uintptr_t (&addresses)[N],
                  const int (&sizes)[N], int width) {
  if (width == 1) return false;
  return detail::plan_rows(out, plan, addresses, sizes, width) ||
         detail::plan_run(out, plan, addresses, sizes, width);
}

}  // namespace ebb
