// The second pass of column sums. It merges the sums of the chunks (pieces) of the rows, in an order that
// depends only on the shape.
#pragma once

#include "kernel/cuda/block_reduce.h"
#include "kernel/cuda/launch.h"

namespace ebb::cuda {

template <class C>
struct PairSum {
  C first, second;
  EBB_HD PairSum operator+(const PairSum& other) const {
    return {first + other.first, second + other.second};
  }
};

constexpr int kPieceThreads = 512;

// A functor `Op` has: Sum, which is 0 if zero-initialized and has operator+; and void finish(std::int64_t
// column, Sum).
template <class Op>
struct PiecesArgs {
  Op op;
  const typename Op::Sum* partial;  // [pieces, columns]
  std::int64_t pieces, columns;
};

/// Uses blockDim = (neighbouring columns of a block, chunks that the block merges at a time). Both are powers
/// of 2.
template <class Op>
__global__ void __launch_bounds__(kPieceThreads)
    merge_pieces_kernel(const __grid_constant__ PiecesArgs<Op> args) {
  using Sum = typename Op::Sum;
  __shared__ Sum scratch[kPieceThreads / 2];
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  const unsigned x = threadIdx.x, y = threadIdx.y, across = blockDim.x;
  Sum total{};
  if (column < args.columns)
#pragma unroll 4
    for (std::int64_t p = y; p < args.pieces; p += blockDim.y)
      total = total + args.partial[p * args.columns + column];
  for (unsigned half = blockDim.y / 2; half > 0; half /= 2) {
    if (y >= half && y < 2 * half) scratch[(y - half) * across + x] = total;
    __syncthreads();
    if (y < half) total = total + scratch[y * across + x];
    __syncthreads();
  }
  if (y == 0 && column < args.columns) args.op.finish(column, total);
}

template <class Op>
void merge_pieces(Device device, const PiecesArgs<Op>& args) {
  const int across = covering_power(args.columns, 1, kWarp);
  const int down = covering_power(args.pieces, 1, kPieceThreads / across);
  launch(device,
         {dim3(grid_blocks(ceil_div(args.columns, across))),
          dim3(static_cast<unsigned>(across), static_cast<unsigned>(down))},
         &merge_pieces_kernel<Op>, args);
}

}  // namespace ebb::cuda
