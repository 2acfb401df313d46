// The gradients of layer_norm's weight and bias without dx: two sums over each column of [rows, columns].
#pragma once

#include "kernel/convert.h"
#include "kernel/cuda/launch.h"
#include "kernel/cuda/vector.h"
#include "kernel/grid.h"
#include "ops/norm/cuda_pieces.h"

namespace ebb::cuda {

constexpr int kAffineAcross = 32;  // units of columns in a block
constexpr int kAffineDown = 8;     // rows that a block processes at a time
constexpr int kAffineLoads = 4;    // rows that a thread loads together

/// Writes the sums of a column to dweight and dbias.
template <class T>
struct AffineSums {
  using Sum = PairSum<Compute<T>>;
  T *dweight, *dbias;  // either may be null
  EBB_HD void finish(std::int64_t column, const Sum& sum) const {
    if (dweight) dweight[column] = static_cast<T>(sum.first);
    if (dbias) dbias[column] = static_cast<T>(sum.second);
  }
};

template <class T>
struct AffineArgs {
  using C = Compute<T>;
  const T *dy, *x;
  const C *mean, *rstd;  // one for each row
  AffineSums<T> sums;
  PairSum<C>* partial;  // [pieces, columns]
  std::int64_t rows, columns;
  std::int64_t pieces, piece;  // the number of chunks (pieces) of the rows, and the rows of one chunk
};

/// Uses one block for kAffineAcross units of V columns and one chunk of the rows; blockDim = (kAffineAcross,
/// kAffineDown).
template <class T, int V>
__global__ void __launch_bounds__(kAffineAcross* kAffineDown, 1)
    affine_columns_kernel(const __grid_constant__ AffineArgs<T> args) {
  using C = Compute<T>;
  using Unit = Vector<T, V>;
  __shared__ C scratch[2 * V][kAffineDown][kAffineAcross + 1];
  const unsigned pieces = static_cast<unsigned>(args.pieces);
  const unsigned tile = pieces == 1 ? blockIdx.x : blockIdx.x / pieces, piece = blockIdx.x - tile * pieces;
  const std::int64_t column = (static_cast<std::int64_t>(tile) * kAffineAcross + threadIdx.x) * V;
  const std::int64_t end = piece + 1 == pieces ? args.rows : (piece + 1) * args.piece;
  C weight[V] = {}, bias[V] = {};
  if (column < args.columns) {
    const auto take = [&](const Unit& g, const Unit& x, C mean, C rstd) {
#pragma unroll
      for (int j = 0; j < V; ++j) {
        const C grad = static_cast<C>(g.at[j]);
        weight[j] += grad * (static_cast<C>(x.at[j]) - mean) * rstd;
        bias[j] += grad;
      }
    };
    std::int64_t row = piece * args.piece + threadIdx.y;
    for (; row + (kAffineLoads - 1) * kAffineDown < end; row += kAffineLoads * kAffineDown) {
      Unit g[kAffineLoads], x[kAffineLoads];
#pragma unroll
      for (int u = 0; u < kAffineLoads; ++u) {
        const std::int64_t at = (row + u * kAffineDown) * args.columns + column;
        g[u] = *reinterpret_cast<const Unit*>(args.dy + at);
        x[u] = *reinterpret_cast<const Unit*>(args.x + at);
      }
#pragma unroll
      for (int u = 0; u < kAffineLoads; ++u)
        take(g[u], x[u], args.mean[row + u * kAffineDown], args.rstd[row + u * kAffineDown]);
    }
    for (; row < end; row += kAffineDown) {
      const std::int64_t at = row * args.columns + column;
      take(*reinterpret_cast<const Unit*>(args.dy + at), *reinterpret_cast<const Unit*>(args.x + at),
           args.mean[row], args.rstd[row]);
    }
  }
#pragma unroll
  for (int j = 0; j < V; ++j) {
    scratch[2 * j][threadIdx.y][threadIdx.x] = weight[j];
    scratch[2 * j + 1][threadIdx.y][threadIdx.x] = bias[j];
  }
  __syncthreads();
  // Each row of threads sums some of the columns.
  for (int j = static_cast<int>(threadIdx.y); j < V; j += kAffineDown) {
    if (column >= args.columns) break;
    C w = 0, b = 0;
    for (int down = 0; down < kAffineDown; ++down) {
      w += scratch[2 * j][down][threadIdx.x];
      b += scratch[2 * j + 1][down][threadIdx.x];
    }
    if (args.partial)
      args.partial[piece * args.columns + column + j] = {w, b};
    else
      args.sums.finish(column + j, {w, b});
  }
}

template <class T>
void affine_grads(Device device, AffineArgs<T> args) {
  constexpr int V = kVectorWidth<T>;
  if (args.columns == 0) return;
  const bool vectors = args.columns % V == 0 && reinterpret_cast<std::uintptr_t>(args.dy) % 16 == 0 &&
                       reinterpret_cast<std::uintptr_t>(args.x) % 16 == 0;
  const std::int64_t tiles = ceil_div(args.columns, kAffineAcross * (vectors ? V : 1));
  const RowPieces cut =
      cut_rows(args.rows, tiles, 4 * std::int64_t{multiprocessors(device)}, kAffineLoads * kAffineDown);
  args.pieces = cut.pieces;
  args.piece = cut.piece;
  NdArray scratch;
  if (cut.pieces > 1) {
    scratch = NdArray::empty({cut.pieces, args.columns, 2}, dtype_of<Compute<T>>(), device);
    args.partial = reinterpret_cast<PairSum<Compute<T>>*>(scratch.address_as<Compute<T>>());
  }
  launch(device, {dim3(grid_blocks(tiles * cut.pieces)), dim3(kAffineAcross, kAffineDown)},
         vectors ? &affine_columns_kernel<T, V> : &affine_columns_kernel<T, 1>, args);
  if (cut.pieces > 1)
    merge_pieces(device, PiecesArgs<AffineSums<T>>{args.sums, args.partial, args.pieces, args.columns});
}

}  // namespace ebb::cuda
