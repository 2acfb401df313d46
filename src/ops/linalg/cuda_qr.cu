// QR factorisations and triangular systems on the device.
#include <ebb/core/visit.h>

#include "kernel/cuda/walk.h"
#include "ops/linalg/cuda_block.h"
#include "ops/linalg/decomposition_kernels.h"
#include "ops/linalg/math_decomposition.h"

#include <algorithm>

namespace ebb::cuda {
namespace {

using decomposition::Batch;
using decomposition::Reflection;
constexpr int kTile = 32;

struct Greater {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

// Returns the norm of column j below row j to all threads, without overflow.
template <class T>
__device__ T norm_below(const T* x, int m, int n, int j, T* scratch, const Block& block) {
  T most = 0, sum = 0;
  for (int i = j + 1 + block.thread; i < m; i += block.threads)
    most = Greater()(most, std::fabs(x[std::int64_t{i} * n + j]));
  most = block_reduce(most, scratch, Greater(), block.thread, block.threads);
  if (most == T(0)) return most;
  for (int i = j + 1 + block.thread; i < m; i += block.threads) {
    const T part = x[std::int64_t{i} * n + j] / most;
    sum += part * part;
  }
  return most * std::sqrt(block_reduce(sum, scratch, Plus(), block.thread, block.threads));
}

// Factors the matrices: for each column j, computes a reflection and applies it to the columns to the right.
// One thread updates each column.
template <class T>
__global__ void __launch_bounds__(kBlockThreads) qr_kernel(T* a, T* tau, std::int64_t count, int m, int n) {
  __shared__ T scratch[kBlockThreads / kWarp];
  const Block block;
  const int k = m < n ? m : n;
  for (std::int64_t b = blockIdx.x; b < count; b += gridDim.x) {
    T* const x = a + b * m * n;
    for (int j = 0; j < k; ++j) {
      T* const own = x + std::int64_t{j} * n;
      const Reflection<T> h(own[j], norm_below(x, m, n, j, scratch, block));
      __syncthreads();
      for (int i = j + 1 + block.thread; i < m; i += block.threads) x[std::int64_t{i} * n + j] /= h.scale;
      if (block.thread == 0) {
        own[j] = h.beta;
        tau[b * k + j] = h.tau;
      }
      __syncthreads();
      for (int c = j + 1 + block.thread; c < n; c += block.threads) {
        T sum = own[c];
        for (int i = j + 1; i < m; ++i) sum += x[std::int64_t{i} * n + j] * x[std::int64_t{i} * n + c];
        sum *= h.tau;
        own[c] -= sum;
        for (int i = j + 1; i < m; ++i) x[std::int64_t{i} * n + c] -= x[std::int64_t{i} * n + j] * sum;
      }
      __syncthreads();
    }
  }
}

// Forms Q. One thread for each column of Q applies the reflections, from the last to the first, to a column
// of the identity.
template <class T>
struct FormQ {
  T* q;
  const T *a, *tau;
  std::int64_t m, n, k, columns;
  __device__ void operator()(std::int64_t index) const {
    const std::int64_t b = index / columns, column = index % columns;
    T* const x = q + b * m * columns + column;
    const T* const v = a + b * m * n;
    for (std::int64_t i = 0; i < m; ++i) x[i * columns] = i == column ? T(1) : T(0);
    for (std::int64_t j = k - 1; j >= 0; --j) {
      T sum = x[j * columns];
      for (std::int64_t i = j + 1; i < m; ++i) sum += v[i * n + j] * x[i * columns];
      sum *= tau[b * k + j];
      x[j * columns] -= sum;
      for (std::int64_t i = j + 1; i < m; ++i) x[i * columns] -= v[i * n + j] * sum;
    }
  }
};

// Solves op(a) x = b in place. One block solves up to 32 right sides. It divides each row of x by the
// diagonal element of `a` and then subtracts multiples of this row from the remaining rows.
template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    solve_kernel(T* x, const T* a, std::int64_t blocks, int tiles, int n, int columns, TriangularArgs args) {
  const Block block;
  const bool from_last = args.upper != args.transposed;
  for (std::int64_t index = blockIdx.x; index < blocks; index += gridDim.x) {
    const std::int64_t b = index / tiles;
    const int start = static_cast<int>(index % tiles) * kTile;
    const int width = columns - start < kTile ? columns - start : kTile;
    const int slot = block.thread / width, slots = block.threads / width;
    T* const right = x + b * n * columns + start + block.thread % width;
    const T* const left = a + b * n * n;
    const std::int64_t down = args.transposed ? 1 : n, across = args.transposed ? n : 1;
    for (int step = 0; step < n; ++step) {
      const int i = from_last ? n - 1 - step : step;
      if (slot == 0 && !args.unit_diagonal) right[std::int64_t{i} * columns] /= left[i * (down + across)];
      __syncthreads();
      const T solved = right[std::int64_t{i} * columns];
      const int first = from_last ? 0 : i + 1, end = from_last ? i : n;
      if (slot < slots)
        for (int r = first + slot; r < end; r += slots)
          right[std::int64_t{r} * columns] -= left[r * down + i * across] * solved;
      __syncthreads();
    }
  }
}

}  // namespace

void qr(NdArray& a, NdArray& tau) {
  visit_float_double(a.dtype(), "linalg.qr", [&]<class T> {
    const Batch<T> x(a);
    if (x.count * x.rows * x.cols == 0) return;
    launch(a.device(), block_grid(x.count, std::max(x.rows, x.cols)), &qr_kernel<T>, x.data,
           tau.address_as<T>(), x.count, static_cast<int>(x.rows), static_cast<int>(x.cols));
  });
}

void householder_q(NdArray& q, const NdArray& a, const NdArray& tau) {
  visit_float_double(q.dtype(), "linalg.qr", [&]<class T> {
    const Batch<T> out(q), x(a), factors(tau, 1);
    for_each(q.device(), out.count * out.cols,
             FormQ<T>{out.data, x.data, factors.data, out.rows, x.cols, factors.cols, out.cols});
  });
}

void triangular_solve(NdArray& x, const NdArray& a, const TriangularArgs& args) {
  visit_float_double(x.dtype(), "linalg.solve_triangular", [&]<class T> {
    const Batch<T> right(x), left(a);
    const std::int64_t tiles = (right.cols + kTile - 1) / kTile, blocks = right.count * tiles;
    if (blocks * left.rows == 0) return;
    launch(x.device(), block_grid(blocks, left.rows * std::min<std::int64_t>(right.cols, kTile) / 2),
           &solve_kernel<T>, right.data, left.data, blocks, static_cast<int>(tiles),
           static_cast<int>(left.rows), static_cast<int>(right.cols), args);
  });
}

}  // namespace ebb::cuda
