// Singular values and eigenvalues on the device by one-sided Jacobi rotations. There is one block for each
// matrix and one warp for each pair of rows; all pairs of a round are rotated in parallel (Brent and Luk
// 1985).
#include <ebb/core/visit.h>

#include "kernel/cuda/walk.h"
#include "ops/linalg/cuda_block.h"
#include "ops/linalg/decomposition_kernels.h"
#include "ops/linalg/math_decomposition.h"

#include <algorithm>
#include <limits>

namespace ebb::cuda {
namespace {

using decomposition::Batch;
using decomposition::Rotation;
constexpr int kSweeps = 40;

// Parameters of the rotations. Each row of z is a row of the matrix (a column of a tall matrix) followed by a
// row of the rotations. For eigenvalues of A the matrix is A / c + I, where c is a bound of their magnitudes.
// It has the same eigenvectors as A. Its eigenvalues are not negative and therefore equal its singular
// values.
template <class T>
struct Problem {
  const T* a;
  T *z, *values;
  std::int32_t *order, *info;
  int k, length;
  bool tall, symmetric;
  T relative;  // inner products up to relative * |x| * |y| count as rounding errors

  __device__ T element(std::int64_t b, int i, int j) const {
    const T* const x = a + b * k * length;
    return tall ? x[std::int64_t{j} * k + i] : x[std::int64_t{i} * length + j];
  }
};

struct Greater {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a > b ? a : b;
  }
};

template <class T>
__device__ T warp_sum(T value) {
  return shuffle_first(warp_reduce(value, Plus()));
}

template <class T>
__device__ T product(const T* x, const T* y, int length, int lane) {
  T sum = 0;
  for (int i = lane; i < length; i += kWarp) sum += x[i] * y[i];
  return warp_sum(sum);
}

// Returns the divisor of the matrix: the largest magnitude of an element, or for a symmetric matrix the
// largest row sum of magnitudes. Returns NaN if an element is not finite.
template <class T>
__device__ T size_of(const Problem<T>& p, std::int64_t b, T* scratch, const Block& block) {
  T most = 0, wrong = 0;
  for (int i = block.warp; i < p.k; i += block.warps) {
    T sum = 0;
    for (int j = block.lane; j < p.length; j += kWarp) {
      const T size = std::fabs(p.element(b, i, j));
      if (!(size <= std::numeric_limits<T>::max())) wrong = 1;
      sum = p.symmetric ? sum + size : Greater()(sum, size);
    }
    most = Greater()(most, p.symmetric ? warp_sum(sum) : sum);
  }
  most = block_reduce(most, scratch, Greater(), block.thread, block.threads);
  wrong = block_reduce(wrong, scratch, Greater(), block.thread, block.threads);
  if (wrong != T(0) || !(most <= std::numeric_limits<T>::max())) return std::numeric_limits<T>::quiet_NaN();
  return most == T(0) ? T(1) : most;
}

// Rotates one pair of a round.
template <class T>
__device__ bool rotate(T* x, T* y, int length, int width, T relative, T negligible, int lane) {
  const T a = product(x, x, length, lane), b = product(y, y, length, lane), g = product(x, y, length, lane);
  if (!decomposition::worth_rotating(a, b, g, relative, negligible)) return false;
  const Rotation<T> r(a, b, g);
  for (int i = lane; i < width; i += kWarp) {
    const T u = x[i], v = y[i];
    x[i] = r.c * u - r.s * v;
    y[i] = r.s * u + r.c * v;
  }
  return true;
}

template <class T>
__global__ void __launch_bounds__(kBlockThreads) jacobi_kernel(Problem<T> p, std::int64_t count) {
  __shared__ T scratch[kBlockThreads / kWarp];
  __shared__ int rotated;
  const Block block;
  const int k = p.k, width = p.length + k, players = k + k % 2;
  for (std::int64_t b = blockIdx.x; b < count; b += gridDim.x) {
    T* const z = p.z + b * k * width;
    const T size = size_of(p, b, scratch, block);
    for (int i = block.warp; i < k; i += block.warps)
      for (int j = block.lane; j < width; j += kWarp) {
        const T one = (j < p.length ? p.symmetric && i == j : j - p.length == i) ? T(1) : T(0);
        z[std::int64_t{i} * width + j] = j < p.length ? p.element(b, i, j) / size + one : one;
      }
    __syncthreads();
    // When all pairs are orthogonal except for rounding errors, one more sweep with a smaller bound follows.
    bool done = !(size > T(0)), last = false;  // there is nothing to do for NaN
    for (int sweep = 0; sweep < kSweeps && !done; ++sweep) {
      T most = 0;
      for (int i = block.warp; i < k; i += block.warps) {
        const T* const row = z + std::int64_t{i} * width;
        most = Greater()(most, product(row, row, p.length, block.lane));
      }
      most = block_reduce(most, scratch, Greater(), block.thread, block.threads);
      const T epsilon = std::numeric_limits<T>::epsilon(), negligible = epsilon * std::sqrt(most);
      const T relative = last ? epsilon : p.relative;
      if (block.thread == 0) rotated = 0;
      __syncthreads();
      for (int round = 0; round + 1 < players; ++round) {
        for (int pair = block.warp; pair < players / 2; pair += block.warps) {
          const int others = players - 1;
          const int one = pair == 0 ? others : (round + pair) % others;
          const int two = (round - pair + others) % others;
          const int low = one < two ? one : two, high = one < two ? two : one;
          if (high < k && rotate(z + std::int64_t{low} * width, z + std::int64_t{high} * width, p.length,
                                 width, relative, negligible, block.lane))
            static_cast<volatile int&>(rotated) = 1;  // several threads may write it concurrently
          __syncwarp();
        }
        __syncthreads();
      }
      done = last;
      last = rotated == 0;
      __syncthreads();
    }
    const bool failed = !done || !(size > T(0));
    // Computes the lengths of the rows, and sorts the rows by length. If the rotations failed, the order is
    // unchanged.
    T* const values = p.values + b * k;
    for (int i = block.warp; i < k; i += block.warps) {
      const T* const row = z + std::int64_t{i} * width;
      const T length = std::sqrt(product(row, row, p.length, block.lane));
      if (block.lane == 0) values[i] = length;
    }
    __syncthreads();
    for (int i = block.thread; i < k; i += block.threads) {
      int place = failed ? i : 0;
      for (int j = 0; j < k && !failed; ++j)
        place += values[j] > values[i] || (values[j] == values[i] && j < i) ? 1 : 0;
      p.order[b * k + place] = i;
    }
    __syncthreads();
    for (int i = block.thread; i < k; i += block.threads)
      values[i] = (p.symmetric ? values[i] - 1 : values[i]) * size;
    if (block.thread == 0) p.info[b] = failed ? k : 0;
    __syncthreads();
  }
}

// Sets out[b, i, j] from the rows of z. The rows are ordered by length, descending or ascending; they become
// columns if `by_column`.
template <class T>
struct Sorted {
  T* out;
  const T* z;
  const std::int32_t* order;
  std::int64_t k, width, start, rows, cols;
  bool by_column, descending;
  __device__ void operator()(std::int64_t index) const {
    const std::int64_t b = index / (rows * cols), i = index / cols % rows, j = index % cols;
    const std::int64_t place = by_column ? j : i, element = by_column ? i : j;
    const std::int64_t row = order[b * k + (descending ? place : k - 1 - place)];
    out[index] = z[(b * k + row) * width + start + element];
  }
};

// Copies q to out, transposed if `transposed`. Column j is negated if element (j, j) of R is negative.
template <class T>
struct Signed {
  T* out;
  const T *q, *r;
  std::int64_t k, length, full;
  bool transposed;
  __device__ void operator()(std::int64_t index) const {
    const std::int64_t b = index / (length * full), i = index / full % length, j = index % full;
    const bool negative = j < k && r[(b * length + j) * k + j] < T(0);
    const T value = negative ? -q[index] : q[index];
    out[transposed ? (b * full + j) * length + i : index] = value;
  }
};

// The result of the rotations: z and the order of its rows.
struct Rotated {
  NdArray z, values, order;
};
template <class T>
Rotated rotate_all(const NdArray& a, NdArray& info, bool symmetric) {
  const Batch<T> x(a);
  const std::int64_t k = std::min(x.rows, x.cols), length = std::max(x.rows, x.cols);
  const Device device = a.device();
  // A local copy of x.count, because nvcc 13.0 drops a semicolon if a member of an expression that depends on
  // T is an element of empty()'s list.
  const std::int64_t count = x.count;
  Rotated out{NdArray::empty({count, k, length + k}, a.dtype(), device),
              NdArray::empty({count, k, 1}, a.dtype(), device), NdArray::empty({count, k}, kInt, device)};
  Problem<T> p{};
  p.a = x.data;
  p.z = out.z.address_as<T>();
  p.values = out.values.address_as<T>();
  p.order = out.order.address_as<std::int32_t>();
  p.info = info.address_as<std::int32_t>();
  p.k = static_cast<int>(k);
  p.length = static_cast<int>(length);
  p.tall = x.rows >= x.cols;
  p.symmetric = symmetric;
  p.relative = std::numeric_limits<T>::epsilon() *
               std::max(T(10), 2 * static_cast<T>(std::sqrt(static_cast<double>(length))));
  launch(device, block_grid(x.count, 8 * k), &jacobi_kernel<T>, p, x.count);
  return out;
}

template <class T>
void sort_rows(NdArray& out, const Rotated& from, std::int64_t start, bool by_column, bool descending) {
  const Batch<T> x(out), z(from.z);
  for_each(out.device(), out.numel(),
           Sorted<T>{x.data, z.data, from.order.address_as<std::int32_t>(), z.rows, z.cols, start, x.rows,
                     x.cols, by_column, descending});
}

template <class T>
void sort_values(NdArray& out, const Rotated& from, bool descending) {
  const Batch<T> z(from.values);
  for_each(out.device(), out.numel(),
           Sorted<T>{out.address_as<T>(), z.data, from.order.address_as<std::int32_t>(), z.rows, 1, 0, z.rows,
                     1, false, descending});
}

}  // namespace

void eigh(NdArray& a, NdArray& values, NdArray& info) {
  if (a.numel() == 0) return;
  visit_float_double(a.dtype(), "linalg.eigh", [&]<class T> {
    const Rotated rotated = rotate_all<T>(a, info, true);
    sort_values<T>(values, rotated, false);
    sort_rows<T>(a, rotated, Batch<T>(a).cols, true, false);
  });
}

void svd(NdArray& u, NdArray& s, NdArray& vh, NdArray& info, const NdArray& a) {
  if (a.numel() == 0) return;
  visit_float_double(a.dtype(), "linalg.svd", [&]<class T> {
    const Batch<T> x(a);
    const bool tall = x.rows >= x.cols;
    const std::int64_t count = x.count, k = std::min(x.rows, x.cols), length = std::max(x.rows, x.cols);
    NdArray &long_side = tall ? u : vh, &short_side = tall ? vh : u;
    const std::int64_t full = tall ? Batch<T>(u).cols : Batch<T>(vh).rows;
    const Rotated rotated = rotate_all<T>(a, info, false);
    sort_values<T>(s, rotated, true);
    sort_rows<T>(short_side, rotated, length, !tall, true);
    // The rotated rows become columns. The columns are orthogonal, except that columns of small norm
    // have rounding errors. A QR factorisation makes them an orthonormal basis.
    const auto fresh = [&](std::int64_t rows, std::int64_t cols) {
      return NdArray::empty({count, rows, cols}, a.dtype(), a.device());
    };
    NdArray columns = fresh(length, k), tau = NdArray::empty({count, k}, a.dtype(), a.device()),
            basis = fresh(length, full);
    sort_rows<T>(columns, rotated, 0, true, true);
    qr(columns, tau);
    householder_q(basis, columns, tau);
    for_each(a.device(), basis.numel(),
             Signed<T>{long_side.address_as<T>(), basis.address_as<T>(), columns.address_as<T>(), k, length,
                       full, !tall});
  });
}

}  // namespace ebb::cuda
