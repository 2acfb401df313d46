// Products of bfloat16 with AMX, whose instructions run in software on processors without AMX.
#include <ebb/core/parallel.h>

#include "amx_in_software.h"
#include "core/isa.h"
#include "halves.h"
#include "kernel/cpu/gemm.h"
#include "support/catch.h"

#include <cmath>
#include <limits>
#include <vector>

using namespace ebb;
using namespace halves;

namespace {

// Checks the conditions that hold whenever tiles are used: a processor accepts each instruction, and no
// thread leaves its tiles configured. Kernels built for all processors never use AMX here; ops do
// (amx_ops_test.cpp).
void check_conduct(std::int64_t computed_before) {
  CHECK(AmxInSoftware::refused() == 0);
  CHECK(AmxInSoftware::shaped() == 0);
  if (AmxInSoftware::computed() > computed_before) CHECK(detail::amx == detail::Amx::on);
}

void check_large(std::int64_t m, std::int64_t n, std::int64_t k, Arranged of_a = Arranged::rows,
                 Arranged of_b = Arranged::rows, Arranged of_c = Arranged::rows, float alpha = 1,
                 float beta = 0) {
  check_product<BFloat16, float>(m, n, k, of_a, of_b, of_c, alpha, beta);
}

}  // namespace

TEST_CASE("AMX products are right for every size") {
  const AmxInSoftware amx;
  const std::int64_t before = AmxInSoftware::computed();
  for (const Arranged layout : {Arranged::wide_rows, Arranged::columns}) {
    for (std::int64_t m = 16; m <= 50; m += m == 33 ? 15 : 1)
      check_large(m, 33, 133, layout, Arranged::columns);
    for (std::int64_t n = 16; n <= 50; n += n == 33 ? 15 : 1) check_large(33, n, 133, layout, layout);
    for (std::int64_t k = 64; k <= 100; ++k) check_large(33, 33, k, layout, layout);
  }
  check_large(17, 16, 1801, Arranged::columns);  // several blocks of the sum
  // several pieces, and less than a tile in the sum
  check_large(530, 270, 3, Arranged::rows, Arranged::columns);
  check_conduct(before);
}

TEST_CASE("AMX products are right for every layout") {
  const AmxInSoftware amx;
  const std::int64_t before = AmxInSoftware::computed();
  for (const Arranged of_a : kArranged)
    for (const Arranged of_b : kArranged)
      for (const Arranged of_c : kArranged) {
        check_large(33, 37, 70, of_a, of_b, of_c);
        check_large(33, 37, 97, of_a, of_b, of_c);
        check_product<BFloat16, BFloat16>(49, 34, 64, of_a, of_b, of_c);
      }
  for (const float alpha : {1.f, -0.5f})
    for (const float beta : {0.f, 2.5f})
      check_large(40, 33, 77, Arranged::rows, Arranged::columns, Arranged::wide_rows, alpha, beta);
  check_conduct(before);
}

TEST_CASE("NaN of an AMX product does not reach the next product") {
  const AmxInSoftware amx;
  const std::int64_t before = AmxInSoftware::computed();
  for (const Arranged layout : {Arranged::rows, Arranged::columns}) {
    // A sum that ends within a tile, after one that filled more of it: the memory of the tile is reused.
    Stored<BFloat16> a(33, 94, layout), b(94, 33, layout);
    Stored<float> c(33, 33, Arranged::rows);
    for (BFloat16& x : a.memory) x = std::numeric_limits<float>::quiet_NaN();
    for (BFloat16& x : b.memory) x = std::numeric_limits<float>::quiet_NaN();
    cpu::gemm_halves<BFloat16, float>(a.view.read(), b.view.read(), c.view, 1, 0);
    for (std::int64_t i = 0; i < 33 * 33; ++i) REQUIRE(std::isnan(c.memory[static_cast<std::size_t>(i)]));
    check_large(33, 33, 65, layout, layout);
  }
  check_conduct(before);
}

TEST_CASE("AMX products are never minus zero") {
  const AmxInSoftware amx;
  const std::int64_t before = AmxInSoftware::computed();
  // The first product is the smallest normal number. The last block of 32 products, which one instruction
  // combines, subtracts 1.5 times as much, so the sum is a negative denormal number.
  Stored<BFloat16> a(16, 256, Arranged::rows), b(256, 16, Arranged::rows);
  Stored<float> c(16, 16, Arranged::rows);
  for (BFloat16& x : a.memory) x = 0;
  for (BFloat16& x : b.memory) x = 0;
  for (std::int64_t i = 0; i < 16; ++i) {
    a.view(i, 0) = a.view(i, 255) = BFloat16(0x1p-63f);
    b.view(0, i) = BFloat16(0x1p-63f);
    b.view(255, i) = BFloat16(-0x1.8p-63f);
  }
  cpu::gemm_halves<BFloat16, float>(a.view.read(), b.view.read(), c.view, 1, 0);
  for (std::int64_t i = 0; i < 16 * 16; ++i) {
    const float x = c.memory[static_cast<std::size_t>(i)];
    REQUIRE((x <= 0 && x >= -0x1p-127f && !(x == 0 && std::signbit(x))));
  }
  check_conduct(before);
}

TEST_CASE("AMX products do not depend on the number of threads") {
  const AmxInSoftware amx;
  const std::int64_t before = AmxInSoftware::computed();
  const int threads = get_num_threads();
  set_num_threads(1);
  const std::vector<float> one = product<BFloat16>(130, 200, 161, Arranged::rows, Arranged::columns);
  set_num_threads(3);
  const std::vector<float> three = product<BFloat16>(130, 200, 161, Arranged::rows, Arranged::columns);
  set_num_threads(threads);
  for (std::size_t i = 0; i < 130 * 200; ++i) REQUIRE(three[i] == one[i]);
  check_conduct(before);
}

TEST_CASE("small or deterministic bfloat16 products do not use AMX") {
  const AmxInSoftware amx;
  const std::int64_t before = AmxInSoftware::computed();
  for (const Arranged of_b : {Arranged::rows, Arranged::columns}) {
    check_large(15, 64, 300, Arranged::rows, of_b);
    check_large(64, 15, 300, Arranged::rows, of_b);
    check_large(32, 32, 63, Arranged::rows, of_b);
  }
  check_product<Half, Half>(64, 64, 64, Arranged::rows, Arranged::rows, Arranged::rows);
  detail::run_same_kernels_everywhere(true);
  check_large(64, 64, 64);
  detail::run_same_kernels_everywhere(false);
  CHECK(AmxInSoftware::computed() == before);
  CHECK(detail::amx == detail::Amx::granted);  // the check that AMX works has not run
}
