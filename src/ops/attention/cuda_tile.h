// Tiles of 64 by 64 elements that a block of 256 threads computes without tensor cores; each thread has 4 by
// 4 elements.
#pragma once

#include "kernel/cuda/block_reduce.h"
#include "ops/attention/cuda_call.h"

namespace ebb::cuda::attention {

constexpr int kTile = 64, kSide = 16, kEach = 4, kDepth = 32, kTileThreads = kSide * kSide;
// Elements of shared memory: kOperands for the two operands of multiply() or the one operand of
// add_product(), followed by kWhole for the tile.
constexpr int kDepthPitch = kDepth + 1, kPitch = kTile + 1;
constexpr int kOperands = 2 * kTile * kDepthPitch, kWhole = kTile * kPitch;
static_assert(kWhole <= kOperands);

/// Up to 64 rows of one head.
template <class T>
struct Side {
  const T* data;
  std::int64_t step;
  std::int64_t rows, width;
};

/// The elements of thread (y, x): rows 4 y ... 4 y + 3 and columns x, x + 16, x + 32, x + 48.
template <class C>
struct Part {
  C at[kEach][kEach];
  __device__ void clear() {
#pragma unroll
    for (int i = 0; i < kEach; ++i)
#pragma unroll
      for (int j = 0; j < kEach; ++j) at[i][j] = 0;
  }
};
__device__ inline int row_of(int i) { return static_cast<int>(threadIdx.x) / kSide * kEach + i; }
__device__ inline int column_of(int j) { return static_cast<int>(threadIdx.x) % kSide + j * kSide; }

/// Loads `columns` columns from `first` on. Elements out of range are zeros.
template <class T>
__device__ void load_side(Compute<T>* to, int pitch, int columns, const Side<T>& from, std::int64_t first) {
  for (int i = static_cast<int>(threadIdx.x); i < kTile * columns; i += kTileThreads) {
    const int r = i / columns, c = i % columns;
    const bool inside = r < from.rows && first + c < from.width;
    to[r * pitch + c] = inside ? static_cast<Compute<T>>(from.data[r * from.step + first + c]) : 0;
  }
}

/// Computes part = left right^T. All threads of the block must call it. After the call shared memory can be
/// reused.
template <class T>
__device__ void multiply(Part<Compute<T>>& part, const Side<T>& left, const Side<T>& right,
                         Compute<T>* shared) {
  using C = Compute<T>;
  C *const x = shared, *const y = shared + kTile * kDepthPitch;
  part.clear();
  for (std::int64_t first = 0; first < left.width; first += kDepth) {
    load_side(x, kDepthPitch, kDepth, left, first);
    load_side(y, kDepthPitch, kDepth, right, first);
    __syncthreads();
#pragma unroll 8
    for (int e = 0; e < kDepth; ++e) {
      C a[kEach], b[kEach];
#pragma unroll
      for (int i = 0; i < kEach; ++i) a[i] = x[row_of(i) * kDepthPitch + e];
#pragma unroll
      for (int j = 0; j < kEach; ++j) b[j] = y[column_of(j) * kDepthPitch + e];
#pragma unroll
      for (int i = 0; i < kEach; ++i)
#pragma unroll
        for (int j = 0; j < kEach; ++j) part.at[i][j] += a[i] * b[j];
    }
    __syncthreads();
  }
}

/// Computes sum += tile right, or tile^T right, for 64 columns of right from `first` on. The tile is in
/// shared memory, and a barrier has followed its writes.
template <bool kTransposed, class T>
__device__ void add_product(Part<Compute<T>>& sum, const Compute<T>* tile, const Side<T>& right,
                            std::int64_t first, Compute<T>* shared) {
  using C = Compute<T>;
  load_side(shared, kPitch, kTile, right, first);
  __syncthreads();
#pragma unroll 8
  for (int k = 0; k < kTile; ++k) {
    C a[kEach], b[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i)
      a[i] = kTransposed ? tile[k * kPitch + row_of(i)] : tile[row_of(i) * kPitch + k];
#pragma unroll
    for (int j = 0; j < kEach; ++j) b[j] = shared[k * kPitch + column_of(j)];
#pragma unroll
    for (int i = 0; i < kEach; ++i)
#pragma unroll
      for (int j = 0; j < kEach; ++j) sum.at[i][j] += a[i] * b[j];
  }
  __syncthreads();
}

/// Stores the elements of all threads as a tile in shared memory.
template <class C>
__device__ void store_tile(C* tile, const Part<C>& part) {
#pragma unroll
  for (int i = 0; i < kEach; ++i)
#pragma unroll
    for (int j = 0; j < kEach; ++j) tile[row_of(i) * kPitch + column_of(j)] = part.at[i][j];
}

/// Writes a thread's part to the columns from `first` on of a contiguous result (rows, width). factor(row) is
/// the factor of a row.
template <class T, class Factor>
__device__ void write_part(T* to, std::int64_t rows, std::int64_t width, std::int64_t first,
                           const Part<Compute<T>>& part, const Factor& factor) {
#pragma unroll
  for (int i = 0; i < kEach; ++i)
#pragma unroll
    for (int j = 0; j < kEach; ++j)
      if (row_of(i) < rows && first + column_of(j) < width)
        to[row_of(i) * width + first + column_of(j)] = static_cast<T>(part.at[i][j] * factor(i));
}

/// Returns at most 64 rows of a head from `first` on.
template <class T>
__device__ Side<T> side_of(const Rows<const T>& from, std::int64_t n, std::int64_t head, std::int64_t first,
                           std::int64_t rows, std::int64_t width) {
  const std::int64_t left = rows - first;
  return {from.at(n, head, first), from.step, left < kTile ? left : kTile, width};
}

/// Reduces (maximum or sum) over the 16 threads of a row.
template <class C, class Merge>
__device__ C over_row(C value, const Merge& merge) {
#pragma unroll
  for (int delta = 1; delta < kSide; delta *= 2)
    value = merge(value, __shfl_xor_sync(kFullWarp, value, delta, kSide));
  return value;
}

}  // namespace ebb::cuda::attention
