// Products of matrices of 16-bit floats: every layout and odd size, against sums in double.
#include <ebb/core/parallel.h>

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "core/isa.h"
#include "kernel/cpu/gemm.h"

using namespace ebb;
using cpu::Matrix;

namespace {

enum class Layout { rows, wide_rows, columns, steps };

// A matrix of numbers around 1 with its memory; what lies between the elements is NaN.
template <class T>
struct Stored {
  std::vector<T> memory;
  Matrix<T> view;

  Stored(std::int64_t rows, std::int64_t cols, Layout layout, unsigned seed = 0) {
    const std::int64_t gap = layout == Layout::wide_rows ? 3 : 0, step = layout == Layout::steps ? 2 : 1;
    const bool by_columns = layout == Layout::columns;
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

// Half the distance of neighbours of 1.
template <class T>
constexpr double kRounding = std::is_same_v<T, float>  ? 0x1p-24
                             : std::is_same_v<T, Half> ? 0x1p-11
                                                       : 0x1p-8;

// What is below the normal numbers of Half is rounded to steps of 2^-24.
template <class T>
constexpr double kLeast = std::is_same_v<T, Half> ? 0x1p-25 : 0;

// c = alpha a b + beta c must lie within the rounding of the result, and of a sum of k terms in floats: each
// of k additions is wrong by at most 2^-24 of what was summed up so far, which is at most the sum of |a b|.
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
void check_product(std::int64_t m, std::int64_t n, std::int64_t k, Layout of_a, Layout of_b, Layout of_c,
                   float alpha = 1, float beta = 0) {
  CAPTURE(m, n, k, int(of_a), int(of_b), int(of_c), alpha, beta);
  const Stored<T> a(m, k, of_a, 1), b(k, n, of_b, 2);
  const Stored<Out> before(m, n, of_c, 3);
  Stored<Out> c = before;
  c.view.data = c.memory.data();
  if (beta == 0)
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) c.view(i, j) = Out(std::numeric_limits<float>::quiet_NaN());
  cpu::gemm_halves<T, Out>(a.view.read(), b.view.read(), c.view, alpha, beta);
  check(a.view, b.view, before.view, c.view, alpha, beta);
  // Nothing was written between the elements.
  std::size_t kept = 0, there = 0;
  for (std::size_t i = 0; i < c.memory.size(); ++i) {
    there += std::isnan(static_cast<float>(before.memory[i]));
    kept += std::isnan(static_cast<float>(c.memory[i]));
  }
  CHECK(kept == there);
}

template <class T>
std::vector<float> product(std::int64_t m, std::int64_t n, std::int64_t k, Layout of_a, Layout of_b) {
  const Stored<T> a(m, k, of_a, 1), b(k, n, of_b, 2);
  Stored<float> c(m, n, Layout::rows);
  cpu::gemm_halves<T, float>(a.view.read(), b.view.read(), c.view, 1, 0);
  return c.memory;
}

bool same_bits(const std::vector<float>& x, const std::vector<float>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

struct Deterministic {
  Deterministic() { detail::run_same_kernels_everywhere(true); }
  ~Deterministic() { detail::run_same_kernels_everywhere(false); }
};

constexpr Layout kLayouts[] = {Layout::rows, Layout::wide_rows, Layout::columns, Layout::steps};

}  // namespace

TEMPLATE_TEST_CASE("products of halves are right in every layout and size", "", BFloat16, Half) {
  using T = TestType;
  for (const bool same : {false, true}) {
    CAPTURE(same);
    detail::run_same_kernels_everywhere(same);
    for (const Layout of_a : kLayouts)
      for (const Layout of_b : kLayouts)
        for (const Layout of_c : kLayouts)
          for (const std::int64_t k : {7, 64, 131}) {
            check_product<T, T>(13, 37, k, of_a, of_b, of_c);
            check_product<T, float>(70, 130, k, of_a, of_b, of_c);
          }
    for (const std::int64_t m : {1, 2, 3, 9, 65})
      for (const std::int64_t n : {1, 2, 7, 16, 17, 65})
        for (const std::int64_t k : {1, 2, 33, 400})
          for (const Layout of_a : {Layout::rows, Layout::columns})
            for (const Layout of_b : {Layout::rows, Layout::columns})
              for (const Layout of_c : {Layout::rows, Layout::columns})
                check_product<T, T>(m, n, k, of_a, of_b, of_c);
    check_product<T, T>(600, 700, 33, Layout::rows, Layout::columns, Layout::rows);  // several pieces
    check_product<T, T>(5, 6, 3001, Layout::columns, Layout::rows, Layout::rows);    // several parts
    detail::run_same_kernels_everywhere(false);
  }
}

TEMPLATE_TEST_CASE("products of halves are scaled and added to what is there", "", BFloat16, Half) {
  using T = TestType;
  for (const float alpha : {1.f, -0.5f})
    for (const float beta : {0.f, 1.f, 2.5f})
      for (const Layout of_c : kLayouts)
        for (const std::int64_t k : {2, 40, 301}) {
          check_product<T, T>(20, 33, k, Layout::rows, Layout::columns, of_c, alpha, beta);
          check_product<T, float>(20, 33, k, Layout::columns, Layout::rows, of_c, alpha, beta);
          check_product<T, T>(1, 90, k, Layout::rows, Layout::columns, of_c, alpha, beta);
          check_product<T, T>(90, 1, k, Layout::rows, Layout::steps, of_c, alpha, beta);
        }
}

TEMPLATE_TEST_CASE("a product of halves over nothing scales what is there", "", BFloat16, Half) {
  using T = TestType;
  for (const auto& [k, alpha] : {std::pair<std::int64_t, float>{0, 1.f}, {40, 0.f}}) {
    const Stored<T> a(20, k, Layout::rows), b(k, 30, Layout::rows);
    Stored<T> c(20, 30, Layout::rows);
    const std::vector<T> before = c.memory;
    cpu::gemm_halves<T, T>(a.view.read(), b.view.read(), c.view, alpha, 2);
    for (std::size_t i = 0; i < 600; ++i)
      REQUIRE(static_cast<float>(c.memory[i]) == 2 * static_cast<float>(before[i]));
    c.memory.assign(c.memory.size(), T(std::numeric_limits<float>::quiet_NaN()));
    cpu::gemm_halves<T, T>(a.view.read(), b.view.read(), c.view, alpha, 0);
    for (std::size_t i = 0; i < 600; ++i) REQUIRE(c.memory[i].bits == 0);
  }
}

TEMPLATE_TEST_CASE("no product of halves is minus zero", "", BFloat16, Half) {
  using T = TestType;
  for (const std::int64_t m : {1, 20}) {
    Stored<T> a(m, 40, Layout::rows), b(40, 30, Layout::columns), c(m, 30, Layout::rows);
    for (T& x : a.memory) x = T(0.f);
    cpu::gemm_halves<T, T>(a.view.read(), b.view.read(), c.view, -1, 0);
    for (std::int64_t i = 0; i < m * 30; ++i) REQUIRE(c.memory[static_cast<std::size_t>(i)].bits == 0);
  }
}

TEMPLATE_TEST_CASE("products of halves pass on NaN and infinity", "", BFloat16, Half) {
  using T = TestType;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const std::int64_t m : {1, 20})
    for (const std::int64_t k : {33, 64}) {
      Stored<T> a(m, k, Layout::rows), b(k, 30, Layout::rows), c(m, 30, Layout::rows);
      for (std::int64_t i = 0; i < k; ++i) b.view(i, 4) = T(1);
      a.view(0, k - 1) = T(kInfinity);
      b.view(k - 1, 3) = T(0);
      b.view(0, 2) = T(std::numeric_limits<float>::quiet_NaN());
      cpu::gemm_halves<T, T>(a.view.read(), b.view.read(), c.view, 1, 0);
      CHECK(std::isnan(static_cast<float>(c.view(0, 2))));
      CHECK(std::isnan(static_cast<float>(c.view(0, 3))));
      CHECK(static_cast<float>(c.view(0, 4)) == kInfinity);
      if (m > 1) CHECK(std::isfinite(static_cast<float>(c.view(1, 4))));
    }
}

TEMPLATE_TEST_CASE("products of halves do not depend on the number of threads", "", BFloat16, Half) {
  const int threads = get_num_threads();
  for (const Layout of_b : {Layout::rows, Layout::columns})
    for (const std::int64_t m : {1, 300}) {
      set_num_threads(1);
      const std::vector<float> one = product<TestType>(m, 515, 700, Layout::rows, of_b);
      set_num_threads(3);
      CHECK(same_bits(product<TestType>(m, 515, 700, Layout::rows, of_b), one));
      set_num_threads(threads);
    }
}

TEST_CASE("deterministic products of bfloat16 are those of the widened operands") {
  const Deterministic mode;
  REQUIRE_FALSE(detail::bfloat16_instructions.load());
  // Two numbers that AVX512-BF16 takes for 0, and whose sum of products is normal in floats.
  Stored<BFloat16> a(8, 64, Layout::rows), b(64, 16, Layout::rows);
  for (std::int64_t i = 0; i < 8; ++i)
    for (std::int64_t k = 0; k < 64; ++k) a.view(i, k) = BFloat16(0x1p-127f);
  for (std::int64_t k = 0; k < 64; ++k)
    for (std::int64_t j = 0; j < 16; ++j) b.view(k, j) = BFloat16(0x1p+127f);
  Stored<float> c(8, 16, Layout::rows);
  cpu::gemm_halves<BFloat16, float>(a.view.read(), b.view.read(), c.view, 1, 0);
  for (std::int64_t i = 0; i < 8; ++i)
    for (std::int64_t j = 0; j < 16; ++j) REQUIRE(c.view(i, j) == 64.f);
}
