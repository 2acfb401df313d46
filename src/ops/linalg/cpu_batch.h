// Loops over the matrices of a batch on several threads.
#pragma once

#include "core/parallel_for.h"
#include "kernel/cpu/gemm.h"
#include "ops/linalg/decomposition_kernels.h"

#include <algorithm>
#include <type_traits>

namespace ebb::cpu {

using decomposition::Batch;

/// Calls f(i) for each of `count` matrices, in parallel; `work` is the approximate cost of one call. For a
/// single matrix f runs on the calling thread, so that the products in f can use all threads.
template <class F>
void for_matrices(std::int64_t count, std::int64_t work, const F& f) {
  if (count == 1) return f(std::int64_t{0});
  parallel_for(0, count, std::max<std::int64_t>(1, kGrain / std::max<std::int64_t>(work, 1)),
               [&](std::int64_t from, std::int64_t to) {
                 for (std::int64_t i = from; i < to; ++i) f(i);
               });
}

/// Returns the i-th matrix of a batch.
template <class T>
Matrix<T> matrix_of(const Batch<T>& x, std::int64_t i) {
  return {x.data + i * x.rows * x.cols, x.rows, x.cols, x.cols, 1};
}

/// Computes y[j] += factor * x[j].
template <class T>
void add_multiple(std::int64_t n, T factor, const T* x, T* y) {
  for (std::int64_t j = 0; j < n; ++j) y[j] += factor * x[j];
}

/// Solves a x = b for a square triangular `a` with any strides. At first x contains b. The column stride of x
/// must be 1.
template <class T>
void solve_triangle(Matrix<const T> a, Matrix<T> x, bool upper, bool unit);

extern template void solve_triangle(Matrix<const float>, Matrix<float>, bool, bool);
extern template void solve_triangle(Matrix<const double>, Matrix<double>, bool, bool);

}  // namespace ebb::cpu
