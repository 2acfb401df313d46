// Matrix products of 16-bit floats: every layout and odd size, against sums in double.
#include <ebb/core/parallel.h>

#include "core/isa.h"
#include "halves.h"
#include "kernel/cpu/gemm.h"
#include "support/catch.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace ebb;
using namespace halves;

namespace {

bool same_bits(const std::vector<float>& x, const std::vector<float>& y) {
  return x.size() == y.size() && std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

struct Deterministic {
  Deterministic() { detail::run_same_kernels_everywhere(true); }
  ~Deterministic() { detail::run_same_kernels_everywhere(false); }
};

}  // namespace

TEMPLATE_TEST_CASE("16-bit products are right for every layout and size", "", BFloat16, Half) {
  using T = TestType;
  for (const bool same : {false, true}) {
    CAPTURE(same);
    detail::run_same_kernels_everywhere(same);
    for (const Arranged of_a : kArranged)
      for (const Arranged of_b : kArranged)
        for (const Arranged of_c : kArranged)
          for (const std::int64_t k : {7, 64, 131}) {
            check_product<T, T>(13, 37, k, of_a, of_b, of_c);
            check_product<T, float>(70, 130, k, of_a, of_b, of_c);
          }
    for (const std::int64_t m : {1, 2, 3, 9, 65})
      for (const std::int64_t n : {1, 2, 7, 16, 17, 65})
        for (const std::int64_t k : {1, 2, 33, 400})
          for (const Arranged of_a : {Arranged::rows, Arranged::columns})
            for (const Arranged of_b : {Arranged::rows, Arranged::columns})
              for (const Arranged of_c : {Arranged::rows, Arranged::columns})
                check_product<T, T>(m, n, k, of_a, of_b, of_c);
    check_product<T, T>(600, 700, 33, Arranged::rows, Arranged::columns, Arranged::rows);  // several pieces
    // several blocks of the sum
    check_product<T, T>(5, 6, 3001, Arranged::columns, Arranged::rows, Arranged::rows);
    detail::run_same_kernels_everywhere(false);
  }
}

TEMPLATE_TEST_CASE("16-bit products apply alpha and beta", "", BFloat16, Half) {
  using T = TestType;
  for (const float alpha : {1.f, -0.5f})
    for (const float beta : {0.f, 1.f, 2.5f})
      for (const Arranged of_c : kArranged)
        for (const std::int64_t k : {2, 40, 301}) {
          check_product<T, T>(20, 33, k, Arranged::rows, Arranged::columns, of_c, alpha, beta);
          check_product<T, float>(20, 33, k, Arranged::columns, Arranged::rows, of_c, alpha, beta);
          check_product<T, T>(1, 90, k, Arranged::rows, Arranged::columns, of_c, alpha, beta);
          check_product<T, T>(90, 1, k, Arranged::rows, Arranged::steps, of_c, alpha, beta);
        }
}

TEMPLATE_TEST_CASE("a 16-bit product over an empty dimension applies only beta", "", BFloat16, Half) {
  using T = TestType;
  for (const auto& [k, alpha] : {std::pair<std::int64_t, float>{0, 1.f}, {40, 0.f}}) {
    const Stored<T> a(20, k, Arranged::rows), b(k, 30, Arranged::rows);
    Stored<T> c(20, 30, Arranged::rows);
    const std::vector<T> before = c.memory;
    cpu::gemm_halves<T, T>(a.view.read(), b.view.read(), c.view, alpha, 2);
    for (std::size_t i = 0; i < 600; ++i)
      REQUIRE(static_cast<float>(c.memory[i]) == 2 * static_cast<float>(before[i]));
    c.memory.assign(c.memory.size(), T(std::numeric_limits<float>::quiet_NaN()));
    cpu::gemm_halves<T, T>(a.view.read(), b.view.read(), c.view, alpha, 0);
    for (std::size_t i = 0; i < 600; ++i) REQUIRE(c.memory[i].bits == 0);
  }
}

TEMPLATE_TEST_CASE("16-bit products are never minus zero", "", BFloat16, Half) {
  using T = TestType;
  for (const std::int64_t m : {1, 20}) {
    Stored<T> a(m, 40, Arranged::rows), b(40, 30, Arranged::columns), c(m, 30, Arranged::rows);
    for (T& x : a.memory) x = T(0.f);
    cpu::gemm_halves<T, T>(a.view.read(), b.view.read(), c.view, -1, 0);
    for (std::int64_t i = 0; i < m * 30; ++i) REQUIRE(c.memory[static_cast<std::size_t>(i)].bits == 0);
  }
}

TEMPLATE_TEST_CASE("16-bit products propagate NaN and infinity", "", BFloat16, Half) {
  using T = TestType;
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  for (const std::int64_t m : {1, 20})
    for (const std::int64_t k : {33, 64}) {
      Stored<T> a(m, k, Arranged::rows), b(k, 30, Arranged::rows), c(m, 30, Arranged::rows);
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

TEMPLATE_TEST_CASE("16-bit products do not depend on the number of threads", "", BFloat16, Half) {
  const int threads = get_num_threads();
  for (const Arranged of_b : {Arranged::rows, Arranged::columns})
    for (const std::int64_t m : {1, 300}) {
      set_num_threads(1);
      const std::vector<float> one = product<TestType>(m, 515, 700, Arranged::rows, of_b);
      set_num_threads(3);
      CHECK(same_bits(product<TestType>(m, 515, 700, Arranged::rows, of_b), one));
      set_num_threads(threads);
    }
}

TEST_CASE("deterministic bfloat16 products equal float products of the same values") {
  const Deterministic mode;
  REQUIRE_FALSE(detail::bfloat16_instructions.load());
  // AVX512-BF16 treats the first numbers as 0, but the float sum of their products is a normal number.
  Stored<BFloat16> a(8, 64, Arranged::rows), b(64, 16, Arranged::rows);
  for (std::int64_t i = 0; i < 8; ++i)
    for (std::int64_t k = 0; k < 64; ++k) a.view(i, k) = BFloat16(0x1p-127f);
  for (std::int64_t k = 0; k < 64; ++k)
    for (std::int64_t j = 0; j < 16; ++j) b.view(k, j) = BFloat16(0x1p+127f);
  Stored<float> c(8, 16, Arranged::rows);
  cpu::gemm_halves<BFloat16, float>(a.view.read(), b.view.read(), c.view, 1, 0);
  for (std::int64_t i = 0; i < 8; ++i)
    for (std::int64_t j = 0; j < 16; ++j) REQUIRE(c.view(i, j) == 64.f);
}
