// MapPlan and CrossTile: the memory accesses of an elementwise kernel in one part of an iteration. MapPlan
// uses vectors of `width` elements where the layouts allow it. The plans are pure functions of shapes,
// strides and addresses.
#pragma once

#include "kernel/elementwise_plan.h"

#include <algorithm>

namespace ebb {

/// Computes the byte offset of an element from its index, in at most three nested dimensions.
struct LevelIndex {
  FastDivisor sizes[2];  // sizes of the two innermost dimensions
  std::int32_t strides[3] = {0, 0, 0};

  EBB_HD std::int32_t offset(std::uint32_t element) const {
    const std::uint32_t row = sizes[0].divide(element), plane = sizes[1].divide(row);
    return static_cast<std::int32_t>(element - row * sizes[0].divisor) * strides[0] +
           static_cast<std::int32_t>(row - plane * sizes[1].divisor) * strides[1] +
           static_cast<std::int32_t>(plane) * strides[2];
  }
};

/// The way in which a kernel accesses the elements of a unit in one operand.
enum class Access : std::uint8_t {
  vector,   // one aligned load
  splat,    // one element, repeated for the whole unit
  indexed,  // element by element, at the offsets of `element`
};

/// The elements of an iteration, divided into units. A unit consists of `width` adjacent elements of the
/// output; `plan` has the byte offsets of units. In plans of a dense output, elements before the first
/// aligned unit and after the last whole unit are processed one by one; element[i].offset() gives their byte
/// offsets in operand i.
template <int N>
struct MapPlan {
  IndexPlan<N> plan;
  std::uint32_t head = 0;       // elements before the first unit
  std::uint32_t remainder = 0;  // elements outside of units: the head and the tail
  // The difference between the element indices of adjacent units: the width, or 0 if the indices for
  // `element` start at 0 in each unit.
  std::uint32_t spacing = 0;
  std::int32_t skip[N] = {};
  LevelIndex element[N];
  Access access[N] = {};
};

namespace detail {

/// Computes `out`, which maps an element's index in the order of a dense output to its byte offset in the
/// operand. Merges the operand's adjacent dimensions. Returns false if more than three dimensions remain.
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

// Plans an iteration by rows. Returns false unless, in each array, the innermost dimension consists of whole
// aligned vectors or of one repeated element.
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

// Plans one run of vectors over a dense output, from its first aligned element. Inputs with the output's
// layout and alignment are read as vectors, other inputs element by element. Returns false if the output is
// not dense or shorter than a vector, if an input has more than three dimensions after merging, or if an
// input of more than 32 KiB is neither contiguous nor constant along the innermost dimension.
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

/// Plans vectors of `width` elements. Returns false if the iteration must be element by element. `plan` must
/// fit 32 bits. addresses[i] is the address of operand i, or 0 for a scalar. `sizes` are the element sizes in
/// bytes.
template <int N>
bool plan_vectors(MapPlan<N>& out, const ElementwisePlan<N>& plan, const std::uintptr_t (&addresses)[N],
                  const int (&sizes)[N], int width) {
  if (width == 1) return false;
  return detail::plan_rows(out, plan, addresses, sizes, width) ||
         detail::plan_run(out, plan, addresses, sizes, width);
}

/// The smallest unit of a memory transfer.
constexpr std::int64_t kSectorBytes = 32;

/// Tiles for elementwise ops with an input that is contiguous along another dimension than the output, such
/// as a + b.t(). The threads of a warp process a tile that covers some elements along both dimensions, so
/// that all arrays are accessed in whole memory sectors. Only the order of units changes. A tile has `rows`
/// elements along the plan's dimension `along`, in which the input is contiguous, and `columns` elements
/// along the innermost dimension. If `columns` is 0, vectors run along the innermost dimension. If `along` is
/// 0, there are no tiles.
struct CrossTile {
  int along = 0;
  std::int64_t rows = 0, columns = 0;
};

namespace detail {

// Returns whether an operand's rows consist of whole vectors.
template <int N>
bool has_vector_rows(const ElementwisePlan<N>& plan, int operand, std::uintptr_t address, int size,
                     int width) {
  const std::int64_t bytes = std::int64_t{width} * size;
  if (plan.strides[operand][0] != size || address % static_cast<std::uintptr_t>(bytes) != 0) return false;
  for (int d = 1; d < plan.dims; ++d)
    if (plan.strides[operand][d] % bytes != 0) return false;
  return true;
}

}  // namespace detail

/// Returns the tile for a plan, or no tile if no input is both large and transposed relative to the output.
/// The arguments have the same meaning as in plan_vectors().
template <int N>
CrossTile cross_tile(const ElementwisePlan<N>& plan, const std::uintptr_t (&addresses)[N],
                     const int (&sizes)[N], int width) {
  constexpr std::int64_t kCached = 32 << 10, kMost = 16;
  CrossTile tile;
  if (plan.dims < 2 || plan.dims + 2 > kPlanDims || plan.strides[0][0] != sizes[0]) return tile;
  for (int i = 1; i < N && tile.along == 0; ++i) {
    const std::int64_t inner = plan.strides[i][0];
    if (addresses[i] == 0 || inner == 0 || inner == sizes[i] || detail::reach(plan, i) <= kCached) continue;
    tile.rows = std::min(kSectorBytes / sizes[i], kMost);
    for (int d = 1; d < plan.dims; ++d)
      if (plan.strides[i][d] == sizes[i] && plan.sizes[d] >= tile.rows) tile.along = d;
  }
  if (tile.along == 0) return CrossTile();
  const bool vectors = width > 1 && plan.sizes[0] % width == 0 &&
                       detail::has_vector_rows(plan, 0, addresses[0], sizes[0], width);
  if (!vectors) tile.columns = std::min(kSectorBytes / sizes[0], kMost);
  if (plan.sizes[0] < tile.columns) return CrossTile();
  return tile;
}

/// Calls f(part, offsets, tile) for the part that whole tiles cover, and f(part, offsets, CrossTile()) for
/// each part of the remainder. `offsets` are the distances in bytes from each array's first element to its
/// first element in the part.
template <int N, class F>
void for_each_tiled_part(const ElementwisePlan<N>& plan, const CrossTile& tile, const F& f) {
  const std::int64_t none[N] = {};
  if (tile.along == 0) return f(plan, none, tile);
  // Restricts a plan to the elements [first, first + count) along a dimension.
  const auto cut = [](ElementwisePlan<N> part, std::int64_t(&from)[N], int dim, std::int64_t first,
                      std::int64_t count) {
    for (int i = 0; i < N; ++i) from[i] += first * part.strides[i][dim];
    part.numel = part.numel / part.sizes[dim] * count;
    part.sizes[dim] = count;
    return part;
  };
  const std::int64_t all_rows = plan.sizes[tile.along], rows = all_rows / tile.rows * tile.rows;
  const std::int64_t all_columns = plan.sizes[0];
  const std::int64_t columns = tile.columns == 0 ? all_columns : all_columns / tile.columns * tile.columns;
  std::int64_t inside[N] = {}, below[N] = {}, beside[N] = {};
  const ElementwisePlan<N> upper = cut(plan, inside, tile.along, 0, rows);
  f(cut(upper, inside, 0, 0, columns), inside, tile);
  if (columns < all_columns) f(cut(upper, beside, 0, columns, all_columns - columns), beside, CrossTile());
  if (rows < all_rows) f(cut(plan, below, tile.along, rows, all_rows - rows), below, CrossTile());
}

/// Plans a part that consists of whole tiles. Returns whether its units are vectors; otherwise they are
/// single elements.
template <int N>
bool plan_tiles(MapPlan<N>& out, const ElementwisePlan<N>& plan, const CrossTile& tile,
                const std::uintptr_t (&addresses)[N], const int (&sizes)[N], int width) {
  const bool vectors = tile.columns == 0;
  const std::int64_t step = vectors ? width : tile.columns;
  ElementwisePlan<N> order;
  order.dims = 0;
  order.numel = vectors ? plan.numel / width : plan.numel;
  const auto nest = [&](int dim, std::int64_t size, std::int64_t each) {
    order.sizes[order.dims] = size;
    for (int i = 0; i < N; ++i) order.strides[i][order.dims] = plan.strides[i][dim] * each;
    ++order.dims;
  };
  if (!vectors) nest(0, tile.columns, 1);
  nest(tile.along, tile.rows, 1);
  nest(0, plan.sizes[0] / step, step);
  nest(tile.along, plan.sizes[tile.along] / tile.rows, tile.rows);
  for (int d = 1; d < plan.dims; ++d)
    if (d != tile.along) nest(d, plan.sizes[d], 1);
  index_plan(out.plan, order);
  if (!vectors) return false;
  out.head = out.remainder = out.spacing = 0;
  for (int i = 0; i < N; ++i) {
    out.skip[i] = 0;
    if (i == 0 || detail::has_vector_rows(plan, i, addresses[i], sizes[i], width)) {
      out.access[i] = Access::vector;
    } else if (plan.strides[i][0] == 0) {
      out.access[i] = Access::splat;
    } else {  // the offsets are relative to the unit's first element
      out.access[i] = Access::indexed;
      out.element[i] =
          LevelIndex{{kUndivided, kUndivided}, {static_cast<std::int32_t>(plan.strides[i][0]), 0, 0}};
    }
  }
  return true;
}

}  // namespace ebb
