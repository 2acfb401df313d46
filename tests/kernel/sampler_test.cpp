// The sampler of devices for the smallest and the largest random words.
#include "ops/random/sampler.h"

#include "support/catch.h"

#include <cmath>
#include <limits>

using ebb::BFloat16;
using ebb::Half;
using ebb::drawing::Sampler;
using ebb::ops::Distribution;

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
        T out[ebb::drawing::kPerCall<T>];
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

TEMPLATE_TEST_CASE("the extreme random words give values inside the support of each distribution", "", float,
                   double, Half, BFloat16) {
  constexpr double top = ebb::drawing::DtypeLimits<TestType>::largest,
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
    CHECK(least >= (kind == Distribution::log_normal ? ebb::drawing::DtypeLimits<TestType>::least : -top));
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
