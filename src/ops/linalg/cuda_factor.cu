// LU and Cholesky factorisations on the device: right-looking, with one block for each matrix and one warp
// for each row.
#include <ebb/core/visit.h>

#include "kernel/arithmetic.h"
#include "kernel/cuda/fault.h"
#include "kernel/cuda/walk.h"
#include "ops/linalg/cuda_block.h"
#include "ops/linalg/decomposition_kernels.h"
#include "ops/linalg/ldl_steps.h"

#include <algorithm>

namespace ebb::cuda {
namespace {

using decomposition::Batch;
using decomposition::exchange;

template <class T>
struct Largest {
  T size;
  std::int32_t row;
  std::int32_t unused;  // shuffles transfer whole words
};
struct Larger {
  template <class T>
  __device__ Largest<T> operator()(Largest<T> a, Largest<T> b) const {
    return a.size > b.size || (a.size == b.size && a.row < b.row) ? a : b;
  }
};

template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    lu_kernel(T* a, std::int32_t* pivots, std::int32_t* info, std::int64_t count, int m, int n, bool pivot) {
  __shared__ Largest<T> scratch[kBlockThreads / kWarp];
  const Block block;
  const int k = m < n ? m : n;
  for (std::int64_t b = blockIdx.x; b < count; b += gridDim.x) {
    T* const x = a + b * m * n;
    int zero = 0;
    for (int j = 0; j < k; ++j) {
      int p = j;
      if (pivot) {
        Largest<T> best{T(-1), j, 0};
        for (int i = j + block.thread; i < m; i += block.threads) {
          const T size = std::fabs(x[std::int64_t{i} * n + j]);
          if (size > best.size) best = {size, i, 0};
        }
        p = block_reduce(best, scratch, Larger(), block.thread, block.threads).row;
      }
      T *const own = x + std::int64_t{j} * n, *const other = x + std::int64_t{p} * n;
      if (p != j)
        for (int c = block.thread; c < n; c += block.threads) exchange(own[c], other[c]);
      if (block.thread == 0) pivots[b * k + j] = p + 1;
      __syncthreads();
      const T divisor = own[j];
      if (divisor == T(0)) {
        if (zero == 0) zero = j + 1;
        continue;
      }
      for (int i = j + 1 + block.thread; i < m; i += block.threads) x[std::int64_t{i} * n + j] /= divisor;
      __syncthreads();
      for (int i = j + 1 + block.warp; i < m; i += block.warps) {
        T* const row = x + std::int64_t{i} * n;
        const T factor = row[j];
        for (int c = j + 1 + block.lane; c < n; c += kWarp) row[c] -= rounded_product(factor, own[c]);
      }
      __syncthreads();
    }
    if (block.thread == 0) info[b] = zero;
  }
}

template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    cholesky_kernel(T* a, std::int32_t* info, std::int64_t count, int n) {
  const Block block;
  for (std::int64_t b = blockIdx.x; b < count; b += gridDim.x) {
    T* const x = a + b * n * n;
    int failed = 0;
    for (int j = 0; j < n; ++j) {
      const T square = x[std::int64_t{j} * n + j];
      if (!(square > T(0))) {
        failed = j + 1;
        break;
      }
      const T root = std::sqrt(square);
      __syncthreads();
      for (int i = j + block.thread; i < n; i += block.threads) {
        T& element = x[std::int64_t{i} * n + j];
        element = i == j ? root : element / root;
      }
      __syncthreads();
      for (int i = j + 1 + block.warp; i < n; i += block.warps) {
        T* const row = x + std::int64_t{i} * n;
        for (int c = j + 1 + block.lane; c <= i; c += kWarp) row[c] -= row[j] * x[std::int64_t{c} * n + j];
      }
      __syncthreads();
    }
    if (failed == 0)
      for (int i = block.warp; i < n; i += block.warps)
        for (int c = i + 1 + block.lane; c < n; c += kWarp) x[std::int64_t{i} * n + c] = T(0);
    if (block.thread == 0) info[b] = failed;
  }
}

struct Team {
  const Block& block;
  __device__ std::int64_t rank() const { return block.thread; }
  __device__ std::int64_t size() const { return block.threads; }
  __device__ void sync() const { __syncthreads(); }
};

template <class T>
__global__ void __launch_bounds__(kBlockThreads)
    ldl_kernel(T* a, std::int32_t* pivots, std::int32_t* info, std::int64_t count, int n) {
  const Block block;
  for (std::int64_t b = blockIdx.x; b < count; b += gridDim.x) {
    const std::int32_t zero = decomposition::ldl_factor(a + b * n * n, pivots + b * n, n, Team{block});
    if (block.thread == 0) info[b] = zero;
  }
}

template <class T>
struct LdlSolve {
  T* x;
  const T* a;
  const std::int32_t* pivots;
  std::int64_t n, columns;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t b = i / columns;
    decomposition::ldl_solve_column(a + b * n * n, pivots + b * n, n, x + b * n * columns + i % columns,
                                    columns);
  }
};

struct Permutation {
  std::int64_t* rows;
  const std::int32_t* pivots;
  std::int64_t m, k;
  FaultSink sink;
  __device__ void operator()(std::int64_t b) const {
    std::int64_t* const own = rows + b * m;
    for (std::int64_t i = 0; i < m; ++i) own[i] = i;
    for (std::int64_t i = 0; i < k; ++i) {
      const std::int64_t other = pivots[b * k + i] - 1;
      if (other >= 0 && other < m)
        exchange(own[i], own[other]);
      else
        sink.note(other, m);
    }
  }
};

}  // namespace

void lu(NdArray& a, NdArray& pivots, NdArray& info, bool pivot) {
  visit_float_double(a.dtype(), "linalg.lu_factor", [&]<class T> {
    const Batch<T> x(a);
    if (x.count * x.rows * x.cols == 0) return;
    launch(a.device(), block_grid(x.count, std::max(x.rows, x.cols)), &lu_kernel<T>, x.data,
           pivots.address_as<std::int32_t>(), info.address_as<std::int32_t>(), x.count,
           static_cast<int>(x.rows), static_cast<int>(x.cols), pivot);
  });
}

void lu_permutation(NdArray& permutation, const NdArray& pivots) {
  const Batch<std::int64_t> out(permutation, 1);
  for_each(permutation.device(), out.count,
           Permutation{out.data, pivots.address_as<std::int32_t>(), out.cols,
                       Batch<std::int32_t>(pivots, 1).cols, fault_sink(permutation.device(), "lu_unpack")});
}

void cholesky(NdArray& a, NdArray& info) {
  visit_float_double(a.dtype(), "linalg.cholesky", [&]<class T> {
    const Batch<T> x(a);
    if (x.count * x.rows == 0) return;
    launch(a.device(), block_grid(x.count, x.rows), &cholesky_kernel<T>, x.data,
           info.address_as<std::int32_t>(), x.count, static_cast<int>(x.rows));
  });
}

void ldl(NdArray& a, NdArray& pivots, NdArray& info) {
  visit_float_double(a.dtype(), "linalg.ldl_factor", [&]<class T> {
    const Batch<T> x(a);
    if (x.count * x.rows == 0) return;
    launch(a.device(), block_grid(x.count, x.rows), &ldl_kernel<T>, x.data, pivots.address_as<std::int32_t>(),
           info.address_as<std::int32_t>(), x.count, static_cast<int>(x.rows));
  });
}

void ldl_solve(NdArray& x, const NdArray& a, const NdArray& pivots) {
  visit_float_double(x.dtype(), "linalg.ldl_solve", [&]<class T> {
    const Batch<T> right(x), left(a);
    for_each(x.device(), right.count * right.cols,
             LdlSolve<T>{right.data, left.data, pivots.address_as<std::int32_t>(), left.rows, right.cols});
  });
}

}  // namespace ebb::cuda
