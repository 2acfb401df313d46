// The plan of a copy between arrays with different innermost dimensions. The copy is a batch of matrix
// transposes, which are divided into tiles. The plan depends only on shapes and strides.
#pragma once

#include "kernel/elementwise_plan.h"
#include "kernel/grid.h"

namespace ebb {

/// The tiles of a copy. The source is contiguous along the dimension of size `rows`, the result along the
/// dimension of size `columns`. Strides count elements.
struct TransposePlan {
  std::int64_t rows = 0, columns = 0;
  std::int64_t out_row = 0, in_column = 0;
  FastDivisor row_tiles, column_tiles;
  std::int64_t blocks = 0;
  int batch_dims = 0;
  FastDivisor batch[kPlanDims];
  std::int64_t out_batch[kPlanDims], in_batch[kPlanDims];

  /// Computes the tile of a block: its first row and column, and the offsets of its matrix in the result and
  /// in the source.
  EBB_HD void tile(std::uint32_t block, int side, std::int64_t& row, std::int64_t& column, std::int64_t& out,
                   std::int64_t& in) const {
    std::uint32_t next = column_tiles.divide(block);
    column = std::int64_t{block - next * column_tiles.divisor} * side;
    block = next;
    next = row_tiles.divide(block);
    row = std::int64_t{block - next * row_tiles.divisor} * side;
    block = next;
    out = in = 0;
    for (int d = 0; d < batch_dims; ++d) {
      next = batch[d].divide(block);
      const std::int64_t at = block - next * batch[d].divisor;
      out += at * out_batch[d];
      in += at * in_batch[d];
      block = next;
    }
  }
};

/// Plans the copy from operand 1 to operand 0. Returns false if the copy is not a transpose, if tiles with
/// `side` rows and columns would be slower, or if there are too many tiles.
inline bool plan_transpose(TransposePlan& plan, const ElementwisePlan<2>& walk, int out_size, int in_size,
                           int side) {
  constexpr std::int64_t kLeast = 8;  // with shorter rows most of a tile would be unused
  if (walk.dims < 2 || walk.strides[0][0] != out_size || walk.sizes[0] < kLeast) return false;
  if (walk.strides[1][0] == in_size || walk.strides[1][0] == 0) return false;
  int along = 0;
  for (int d = 1; d < walk.dims; ++d)
    if (walk.strides[1][d] == in_size && walk.sizes[d] >= kLeast) along = d;
  if (along == 0) return false;
  plan.columns = walk.sizes[0];
  plan.rows = walk.sizes[along];
  plan.out_row = walk.strides[0][along] / out_size;
  plan.in_column = walk.strides[1][0] / in_size;
  const std::int64_t across = ceil_div(plan.columns, side), down = ceil_div(plan.rows, side);
  if (across > INT32_MAX || down > INT32_MAX) return false;
  plan.column_tiles = FastDivisor(static_cast<std::uint32_t>(across));
  plan.row_tiles = FastDivisor(static_cast<std::uint32_t>(down));
  plan.batch_dims = 0;
  std::int64_t batches = 1;
  for (int d = 1; d < walk.dims; ++d) {
    if (d == along) continue;
    if (walk.sizes[d] > INT32_MAX) return false;
    plan.batch[plan.batch_dims] = FastDivisor(static_cast<std::uint32_t>(walk.sizes[d]));
    plan.out_batch[plan.batch_dims] = walk.strides[0][d] / out_size;
    plan.in_batch[plan.batch_dims++] = walk.strides[1][d] / in_size;
    batches *= walk.sizes[d];
  }
  plan.blocks = across * down;
  if (plan.blocks > INT32_MAX || batches > INT32_MAX / plan.blocks) return false;
  plan.blocks *= batches;
  return true;
}

}  // namespace ebb
