// Matrices of 16-bit floats in every layout, and bounds of their products.
#pragma once

#include "kernel/cpu/gemm.h"
#include "support/catch.h"

#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace halves {

using ebb::BFloat16;
using ebb::Half;
using ebb::cpu::Matrix;

enum class Arranged { rows, wide_rows, columns, steps };

// A matrix of numbers around 1 with its memory; the gaps between the elements are NaN.
template <class T>
struct Stored {
  std::vector<T> memory;
  Matrix<T> view;

  Stored(std::int64_t rows, std::int64_t cols, Arranged layout, unsigned seed = 0) {
    const std::int64_t gap = layout == Arranged::wide_rows ? 3 : 0, step = layout == Arranged::steps ? 2 : 1;
    const bool by_columns = layout == Arranged::columns;
    const std::int64_t row_stride = by_columns ? 1 : (cols + gap) * step,
                       col_stride = by_columns ? rows : step;
    memory.assign(static_cast<std::size_t>(rows * (cols + gap) * step * step + 1),
                  T(std::numeric_limits<float>::quiet_NaN()));
    view = {memory.data(), rows, cols, row_stride, col_stride};
    std::mt19937 random(seed);
    std::uniform_real_distribution<float> number(-1, 1);
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < cols; ++j) view(i, j) = T(number(random));
  }
};

// Half the distance between adjacent numbers at 1.
template <class T>
constexpr double kRounding = std::is_same_v<T, float>  ? 0x1p-24
                             : std::is_same_v<T, Half> ? 0x1p-11
                                                       : 0x1p-8;

// Half numbers below the normal range are rounded to multiples of 2^-24.
template <class T>
constexpr double kLeast = std::is_same_v<T, Half> ? 0x1p-25 : 0;

// Checks that c = alpha a b + beta c is within the rounding of the result and of a sum of k terms in floats:
// each of k additions has an error of at most 2^-24 of the partial sum, which is at most the sum of |a b|.
// AVX512-BF16 rounds each product of a pair and its sum, as two additions would.
template <class T, class Out>
void check(const Matrix<T>& a, const Matrix<T>& b, const Matrix<Out>& before, const Matrix<Out>& c,
           float alpha, float beta) {
  std::int64_t wrong = 0;
  for (std::int64_t i = 0; i < c.rows; ++i)
    for (std::int64_t j = 0; j < c.cols; ++j) {
      double sum = 0, size = 0;
      for (std::int64_t k = 0; k < a.cols; ++k) {
        const double term = double{a(i, k)} * double{b(k, j)};
        sum += term;
        size += std::abs(term);
      }
      const double start = beta == 0 ? 0 : double{beta} * double{static_cast<float>(before(i, j))};
      const double expected = alpha * sum + start;
      const double of_sum =
          static_cast<double>(a.cols + 3) * 0x1p-24 * (std::abs(alpha) * size + std::abs(start));
      const double bound = of_sum + kRounding<Out> * (std::abs(expected) + of_sum) + kLeast<Out>;
      wrong += !(std::abs(static_cast<float>(c(i, j)) - expected) <= bound);
    }
  CHECK(wrong == 0);
}

template <class T, class Out>
void check_product(std::int64_t m, std::int64_t n, std::int64_t k, Arranged of_a, Arranged of_b,
                   Arranged of_c, float alpha = 1, float beta = 0) {
  CAPTURE(m, n, k, int(of_a), int(of_b), int(of_c), alpha, beta);
  const Stored<T> a(m, k, of_a, 1), b(k, n, of_b, 2);
  const Stored<Out> before(m, n, of_c, 3);
  Stored<Out> c = before;
  c.view.data = c.memory.data();
  if (beta == 0)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) c.view(i, j) = Out(std::numeric_limits<float>::quiet_NaN());
  ebb::cpu::gemm_halves<T, Out>(a.view.read(), b.view.read(), c.view, alpha, beta);
  check(a.view, b.view, before.view, c.view, alpha, beta);
  // The gaps between the elements are unchanged.
  std::size_t kept = 0, there = 0;
  for (std::size_t i = 0; i < c.memory.size(); ++i) {
    there += std::isnan(static_cast<float>(before.memory[i]));
    kept += std::isnan(static_cast<float>(c.memory[i]));
  }
  CHECK(kept == there);
}

template <class T>
std::vector<float> product(std::int64_t m, std::int64_t n, std::int64_t k, Arranged of_a, Arranged of_b) {
  const Stored<T> a(m, k, of_a, 1), b(k, n, of_b, 2);
  Stored<float> c(m, n, Arranged::rows);
  ebb::cpu::gemm_halves<T, float>(a.view.read(), b.view.read(), c.view, 1, 0);
  return c.memory;
}

constexpr Arranged kArranged[] = {Arranged::rows, Arranged::wide_rows, Arranged::columns, Arranged::steps};

}  // namespace halves
