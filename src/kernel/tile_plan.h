// Tiles for elementwise ops with an input that is contiguous along another dimension than the output, such as
// a + b.t(). The threads of a warp process a tile that covers some elements along both dimensions, so that
// all arrays are accessed in whole memory sectors. Only the order of units changes. A pure function of
// shapes, strides and addresses.
#pragma once

#include "kernel/map_plan.h"

#include <algorithm>

namespace ebb {

/// The smallest unit of a memory transfer.
constexpr std::int64_t kSectorBytes = 32;

/// A tile of adjacent units: `rows` along the plan's dimension `along`, in which the input is contiguous, and
/// `columns` along the innermost dimension. columns = 0: vectors along the innermost dimension. along = 0: no
/// tiles.
struct CrossTile {
  int along = 0;
  std::int64_t rows = 0, columns = 0;
};

namespace detail {

// Whether an operand's rows consist of whole vectors.
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

/// Returns the tile for a plan, or none if no input is both large and transposed relative to the output. The
/// arguments are those of plan_vectors.
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

/// Calls f(part, offsets, tile) for the part that whole tiles cover, and without a tile for the remainder.
/// `offsets` are the byte distances from each array's first element to that of the part.
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

/// Plans a part that whole tiles cover; returns false if its units are single elements.
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
    } else {  // relative to a unit's first element
      out.access[i] = Access::indexed;
      out.element[i] =
          LevelIndex{{kUndivided, kUndivided}, {static_cast<std::int32_t>(plan.strides[i][0]), 0, 0}};
    }
  }
  return true;
}

}  // namespace ebb
