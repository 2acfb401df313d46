// LU, Cholesky and LDL factorisations on the CPU. LU and Cholesky factor panels by elimination and then
// update the remaining matrix with matrix products.
#include <ebb/core/visit.h>

#include "kernel/arithmetic.h"
#include "ops/linalg/cpu_batch.h"
#include "ops/linalg/decomposition_kernels.h"
#include "ops/linalg/ldl_steps.h"

#include <cmath>
#include <cstdint>

namespace ebb::cpu {
namespace {

constexpr std::int64_t kPanel = 32;

template <class T>
std::int64_t largest_in_column(Matrix<T> a, std::int64_t column) {
  std::int64_t best = column;
  for (std::int64_t i = column + 1; i < a.rows; ++i)
    if (std::abs(a(i, column)) > std::abs(a(best, column))) best = i;
  return best;
}

// LU factorisation by block columns (Golub and Van Loan, Matrix Computations, 3.4.1).
template <class T>
std::int32_t factor_lu(Matrix<T> a, std::int32_t* pivots, bool pivot) {
  const std::int64_t m = a.rows, n = a.cols, k = std::min(m, n);
  std::int32_t info = 0;
  for (std::int64_t start = 0; start < k; start += kPanel) {
    const std::int64_t end = std::min(start + kPanel, k);
    for (std::int64_t j = start; j < end; ++j) {
      const std::int64_t p = pivot ? largest_in_column(a, j) : j;
      pivots[j] = static_cast<std::int32_t>(p + 1);
      if (p != j) std::swap_ranges(&a(j, 0), &a(j, 0) + n, &a(p, 0));
      if (a(j, j) == T(0)) {
        if (info == 0) info = static_cast<std::int32_t>(j + 1);
        continue;
      }
      for (std::int64_t i = j + 1; i < m; ++i) {
        const T factor = a(i, j) /= a(j, j);
        const T* const pivot_row = &a(j, 0);
        T* const row = &a(i, 0);
        for (std::int64_t c = j + 1; c < end; ++c) row[c] -= rounded_product(factor, pivot_row[c]);
      }
    }
    if (end >= n) continue;
    const std::int64_t size = end - start;
    const Matrix<T> right = a.block(start, end, size, n - end);
    solve_triangle<T>(a.block(start, start, size, size).read(), right, false, true);
    if (end < m)
      gemm<T>(a.block(end, start, m - end, size).read(), right.read(), a.block(end, end, m - end, n - end),
              T(-1), T(1));
  }
  return info;
}

template <class T>
std::int32_t factor_cholesky(Matrix<T> a) {
  const std::int64_t n = a.rows;
  for (std::int64_t start = 0; start < n; start += kPanel) {
    const std::int64_t end = std::min(start + kPanel, n), size = end - start;
    for (std::int64_t j = start; j < end; ++j) {
      T sum = a(j, j);
      for (std::int64_t l = start; l < j; ++l) sum -= a(j, l) * a(j, l);
      if (!(sum > 0)) return static_cast<std::int32_t>(j + 1);
      const T root = a(j, j) = std::sqrt(sum);
      for (std::int64_t i = j + 1; i < n; ++i) {
        T dot = a(i, j);
        for (std::int64_t l = start; l < j; ++l) dot -= a(i, l) * a(j, l);
        a(i, j) = dot / root;
      }
    }
    // Updates the trailing lower triangle, one block column at a time.
    for (std::int64_t j = end; j < n; j += 4 * kPanel) {
      const std::int64_t width = std::min(4 * kPanel, n - j);
      gemm<T>(a.block(j, start, n - j, size).read(), a.block(j, start, width, size).read().t(),
              a.block(j, j, n - j, width), T(-1), T(1));
    }
  }
  for (std::int64_t i = 0; i < n; ++i) std::fill(&a(i, 0) + i + 1, &a(i, 0) + n, T(0));
  return 0;
}

struct Alone {
  static std::int64_t rank() { return 0; }
  static std::int64_t size() { return 1; }
  static void sync() {}
};

}  // namespace

void lu(NdArray& a, NdArray& pivots, NdArray& info, bool pivot) {
  visit_float_double(a.dtype(), "linalg.lu_factor", [&]<class T> {
    const Batch<T> x(a);
    const std::int64_t k = std::min(x.rows, x.cols);
    for_matrices(x.count, x.rows * x.cols * k, [&](std::int64_t i) {
      info.address_as<std::int32_t>()[i] =
          factor_lu<T>(matrix_of(x, i), pivots.address_as<std::int32_t>() + i * k, pivot);
    });
  });
}

void lu_permutation(NdArray& permutation, const NdArray& pivots) {
  const Batch<std::int64_t> out(permutation, 1);
  const Batch<std::int32_t> swaps(pivots, 1);
  for (std::int64_t b = 0; b < out.count; ++b) {
    std::int64_t* const rows = out.data + b * out.cols;
    for (std::int64_t i = 0; i < out.cols; ++i) rows[i] = i;
    for (std::int64_t i = 0; i < swaps.cols; ++i) {
      const std::int64_t other = swaps.data[b * swaps.cols + i] - 1;
      EBB_CHECK(other >= 0 && other < out.cols, "lu_unpack: pivots must be between 1 and ", out.cols,
                ", the number of rows, got ", other + 1, ".");
      std::swap(rows[i], rows[other]);
    }
  }
}

void cholesky(NdArray& a, NdArray& info) {
  visit_float_double(a.dtype(), "linalg.cholesky", [&]<class T> {
    const Batch<T> x(a);
    for_matrices(x.count, x.rows * x.rows * x.rows, [&](std::int64_t i) {
      info.address_as<std::int32_t>()[i] = factor_cholesky<T>(matrix_of(x, i));
    });
  });
}

void ldl(NdArray& a, NdArray& pivots, NdArray& info) {
  visit_float_double(a.dtype(), "linalg.ldl_factor", [&]<class T> {
    const Batch<T> x(a);
    const std::int64_t n = x.rows;
    for_matrices(x.count, n * n * n, [&](std::int64_t i) {
      info.address_as<std::int32_t>()[i] = decomposition::ldl_factor(
          x.data + i * n * n, pivots.address_as<std::int32_t>() + i * n, n, Alone());
    });
  });
}

void ldl_solve(NdArray& x, const NdArray& a, const NdArray& pivots) {
  visit_float_double(x.dtype(), "linalg.ldl_solve", [&]<class T> {
    const Batch<T> right(x), left(a);
    const std::int64_t n = left.rows;
    for_matrices(right.count, n * n * right.cols, [&](std::int64_t i) {
      for (std::int64_t j = 0; j < right.cols; ++j)
        decomposition::ldl_solve_column<T>(left.data + i * n * n, pivots.address_as<std::int32_t>() + i * n,
                                           n, right.data + i * n * right.cols + j, right.cols);
    });
  });
}

}  // namespace ebb::cpu
