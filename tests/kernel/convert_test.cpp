// Conversions to integers at the limits of their ranges.
#include "kernel/convert.h"

#include "support/catch.h"

#include <cmath>
#include <limits>

using namespace ebb;

namespace {

// Conversions that the compiler evaluates equal those that the processor computes.
template <class To, class From>
void check_ends() {
  constexpr To smallest = std::numeric_limits<To>::min();
  constexpr From beyond = -static_cast<From>(smallest);
  CHECK(convert<To>(beyond) == smallest);
  CHECK(convert<To>(-beyond) == smallest);
  CHECK(convert<To>(2 * beyond) == smallest);
  CHECK(convert<To>(std::numeric_limits<From>::infinity()) == smallest);
  CHECK(convert<To>(std::numeric_limits<From>::quiet_NaN()) == smallest);
  const From below = std::nextafter(beyond, From(0));
  CHECK(static_cast<From>(convert<To>(below)) == std::trunc(below));
}

}  // namespace

TEST_CASE("conversion of numbers out of range of an integer gives its minimum") {
  check_ends<std::int32_t, float>();
  check_ends<std::int32_t, double>();
  check_ends<std::int64_t, float>();
  check_ends<std::int64_t, double>();
}
