// Philox, the dropout rule and the sampler of devices.
#include "ops/random/sampler.h"

#include "kernel/philox.h"
#include "ops/common/dropout.h"
#include "support/catch.h"

#include <cmath>
#include <limits>

using ebb::BFloat16;
using ebb::Half;
using ebb::Philox;
using ebb::ops::Distribution;
using ebb::random::Sampler;

// Philox against the test vectors of Random123 for philox4x32-10.

TEST_CASE("Philox has the published outputs") {
  std::uint32_t words[4];
  Philox{0, 0}.words(0, words);
  CHECK(words[0] == 0x6627e8d5u);
  CHECK(words[1] == 0xe169c58du);
  CHECK(words[2] == 0xbc57ac4cu);
  CHECK(words[3] == 0x9b00dbd8u);
  Philox{~std::uint64_t{0}, ~std::uint64_t{0}}.words(~std::uint64_t{0}, words);
  CHECK(words[0] == 0x408f276du);
  CHECK(words[1] == 0x41c83b0eu);
  CHECK(words[2] == 0xa20bc7c6u);
  CHECK(words[3] == 0x6d5451fdu);
  Philox{0x299f31d0a4093822u, 0x0370734413198a2eu}.words(0x85a308d3243f6a88u, words);
  CHECK(words[0] == 0xd16cfe09u);
  CHECK(words[1] == 0x94fdccebu);
  CHECK(words[2] == 0x5001e420u);
  CHECK(words[3] == 0x24126ea1u);
}

TEST_CASE("Philox gives a counter the same output alone and together with other counters") {
  const Philox philox{77, 3};
  const std::uint64_t numbers[3] = {5, ~std::uint64_t{0}, std::uint64_t{1} << 32};
  std::uint32_t together[3][4], alone[4];
  philox.words(numbers, together);
  for (int n = 0; n < 3; ++n) {
    philox.words(numbers[n], alone);
    for (int i = 0; i < 4; ++i) CHECK(together[n][i] == alone[i]);
  }
}

TEST_CASE("dropout keeps all elements with probability 1, none with 2^-33 and a quarter with 0.25") {
  const auto kept = [](double probability, double scale) {
    const ebb::random::Dropout rule(Philox{77, 3}, probability, scale);
    double sum = 0;
    for (std::uint64_t group = 0; group < 1000; ++group) {
      double x[4] = {1, 1, 1, 1};
      rule(group, x);
      for (const double each : x) sum += each;
    }
    return sum;
  };
  CHECK(kept(1, 1) == 4000);
  CHECK(kept(0x1p-33, std::numeric_limits<double>::max()) == 0);
  CHECK(kept(0.25, 1) == Approx(1000).margin(110));  // four standard deviations
}

// The sampler of devices for the smallest and the largest random words.

namespace {

/// Returns the smallest and the largest number that such random words give, as doubles.
template <class T>
std::pair<double, double> drawn(Distribution kind, double a, double b) {
  double least = INFINITY, largest = -INFINITY;
  for (const std::uint32_t first : {0u, 1u, 0x7fffffffu, 0x80000000u, 0xffffff00u, 0xffffff80u, ~0u})
    for (const std::uint32_t second : {0u, 0x3fffffffu, 0x7fffffffu, ~0u}) {
      const std::uint32_t pairs[4] = {first, second, first, second},
                          alike[4] = {first, first, second, second};
      for (const auto& words : {pairs, alike}) {
        T out[ebb::random::kPerCall<T>];
        Sampler<T>{kind, a, b}(reinterpret_cast<const std::uint32_t(&)[4]>(*words), out);
        for (const T x : out) {
          REQUIRE(static_cast<double>(x) == static_cast<double>(x));
          least = std::fmin(least, static_cast<double>(x));
          largest = std::fmax(largest, static_cast<double>(x));
        }
      }
    }
  return {least, largest};
}

}  // namespace

TEMPLATE_TEST_CASE(
    "the smallest and largest random words give values inside the support of each distribution", "", float,
    double, Half, BFloat16) {
  constexpr double top = ebb::random::DtypeLimits<TestType>::largest,
                   deviations = sizeof(TestType) == 8 ? 8.5 : 6.7;
  const auto normal = drawn<TestType>(Distribution::normal, 0, 1);
  CHECK(normal.first < -deviations);
  CHECK(normal.second > deviations);
  for (const double to : {1 + 0x1p-7, 1.0625, 2.0, 3.0}) {
    const auto [least, largest] = drawn<TestType>(Distribution::uniform, 1, to);
    CHECK(least == 1);
    CHECK(largest < to);
    CHECK(largest >= to - 0x1p-6);
  }
  CHECK(drawn<TestType>(Distribution::uniform, -1, 0).second < 0);
  CHECK(drawn<TestType>(Distribution::uniform, 3, 3) == std::pair(3.0, 3.0));
  for (const double rate : {1e-40, 1.0, 1e30}) {
    const auto [least, largest] = drawn<TestType>(Distribution::exponential, rate, 0);
    CHECK(least > 0);
    CHECK(largest <= top);
  }
  for (const auto kind : {Distribution::cauchy, Distribution::log_normal, Distribution::normal}) {
    const auto [least, largest] = drawn<TestType>(kind, 0, 3e4);
    CHECK(least >= (kind == Distribution::log_normal ? ebb::random::DtypeLimits<TestType>::least : -top));
    CHECK(largest <= top);
  }
  for (const double p : {1e-300, 1e-17, 0.5, 1 - 0x1p-53}) {
    const auto [least, largest] = drawn<TestType>(Distribution::geometric, p, std::log1p(-p));
    CHECK(least >= 1);
    CHECK(largest <= top);
    CHECK(drawn<std::uint8_t>(Distribution::geometric, p, std::log1p(-p)).second <= 255);
  }
  CHECK(drawn<TestType>(Distribution::bernoulli, 0, 1) == std::pair(0.0, 0.0));
  CHECK(drawn<TestType>(Distribution::bernoulli, 1, 1) == std::pair(1.0, 1.0));
}
