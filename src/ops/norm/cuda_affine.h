// The gradients of layer norm's weight and bias: two sums down every column of [rows, columns].
#pragma once

#include "kernel/convert.h"
#include "kernel/cuda/launch.h"
#include "kernel/cuda/vector.h"
#include "kernel/grid.h"

namespace ebb::cuda {

constexpr int kAffineAcross = 32;  // units of columns of a block
constexpr int kAffineDown = 8;     // rows that a block has under way
constexpr int kAffineLoads = 4;    // rows that a thread has under way

template <class T>
struct AffineArgs {
  using C = Compute<T>;
  const T *dy, *x;
  const C *mean, *rstd;  // a row
  T *dweight, *dbias;    // either may be null
  C* partial;            // [pieces, 2, columns]
  std::int64_t rows, columns;
  std::int64_t pieces, piece;  // of the rows
};

template <class T>
EBB_HD void store_affine(const AffineArgs<T>& args, std::int64_t column, Compute<T> weight, Compute<T> bias) {
  if (args.dweight) args.dweight[column] = static_cast<T>(weight);
  if (args.dbias) args.dbias[column] = static_cast<T>(bias);
}

/// A block for 32 units of V columns and a piece of the rows; blockDim = (kAffineAcross, kAffineDown).
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
  // Each row of threads adds up some of the columns.
  for (int j = static_cast<int>(threadIdx.y); j < V; j += kAffineDown) {
    if (column >= args.columns) break;
    C w = 0, b = 0;
    for (int down = 0; down < kAffineDown; ++down) {
      w += scratch[2 * j][down][threadIdx.x];
      b += scratch[2 * j + 1][down][threadIdx.x];
    }
    if (args.partial) {
      C* const to = args.partial + static_cast<std::int64_t>(piece) * 2 * args.columns + column + j;
      to[0] = w;
      to[args.columns] = b;
    } else {
      store_affine(args, column + j, w, b);
    }
  }
}

/// A thread a column.
template <class T>
__global__ void affine_pieces_kernel(const __grid_constant__ AffineArgs<T> args) {
  const std::int64_t column = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (column >= args.columns) return;
  Compute<T> weight = 0, bias = 0;
#pragma unroll 4
  for (std::int64_t piece = 0; piece < args.pieces; ++piece) {
    const Compute<T>* const from = args.partial + piece * 2 * args.columns + column;
    weight += from[0];
    bias += from[args.columns];
  }
  store_affine(args, column, weight, bias);
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
    scratch = NdArray::empty({cut.pieces, 2, args.columns}, dtype_of<Compute<T>>(), device);
    args.partial = scratch.data_as<Compute<T>>();
  }
  launch(device, {dim3(grid_blocks(tiles * cut.pieces)), dim3(kAffineAcross, kAffineDown)},
         vectors ? &affine_columns_kernel<T, V> : &affine_columns_kernel<T, 1>, args);
  if (cut.pieces > 1)
    launch_independent(device, {dim3(grid_blocks(ceil_div(args.columns, 128))), dim3(128)},
                       &affine_pieces_kernel<T>, args);
}

}  // namespace ebb::cuda
