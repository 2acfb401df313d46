// Plans of topk, kthvalue and similar ops on a device, and the radix digits of elements.
#include "ops/index/select_plan.h"

#include "support/catch.h"

#include <cmath>
#include <cstdint>
#include <initializer_list>

using namespace ebb;
using namespace ebb::sorting;

TEST_CASE("plan_selection compares short lines, narrows long ones and sorts for large k") {
  CHECK(plan_selection(1000, 128, 128, 132).way == SelectMethod::compare);
  CHECK(plan_selection(1000, 129, 1, 132).way == SelectMethod::line);
  CHECK(plan_selection(1000, 1000, 250, 132).way == SelectMethod::line);
  CHECK(plan_selection(1000, 1000, 251, 132).way == SelectMethod::sort);
  CHECK(plan_selection(1, 8191, 1, 132).way == SelectMethod::line);
}

TEST_CASE("plan_selection splits few long lines into pieces that cover them") {
  for (const std::int64_t lines : {1, 3, 200, 5000})
    for (const std::int64_t n :
         {std::int64_t{8192}, std::int64_t{100001}, std::int64_t{1} << 24, (std::int64_t{1} << 33) + 5}) {
      const SelectPlan plan = plan_selection(lines, n, 1, 132);
      INFO(lines << " lines of " << n);
      CHECK((plan.pieces - 1) * plan.piece < n);
      CHECK(plan.pieces * plan.piece >= n);
      CHECK(plan.piece <= std::int64_t{1} << 30);
      CHECK((plan.way == SelectMethod::pieces) == (plan.pieces > 1));
      if (lines == 1) CHECK(plan.way == SelectMethod::pieces);
      if (lines == 5000 && n < std::int64_t{1} << 30) CHECK(plan.way == SelectMethod::line);
    }
}

namespace {

// Checks that elements with equal digits have equal keys, in both directions.
template <class T>
void check_digits(std::initializer_list<T> values) {
  constexpr int last = digit_shift<T>(digit_count<T>() - 1);
  for (const bool descending : {false, true}) {
    const Key<T> turn = key_flip<T>(descending);
    for (const T a : values)
      for (const T b : values) {
        const Key<T> x = key_of(a) ^ turn, y = key_of(b) ^ turn;
        CHECK((x >> last == y >> last) == (key_of(a) == key_of(b)));
        CHECK((x < y) == (descending ? key_of(b) < key_of(a) : key_of(a) < key_of(b)));
        // There are no bits above the first digit.
        CHECK(std::uint64_t{x} >> last >> (kDigitBits * digit_count<T>() - 1) >> 1 == 0);
      }
  }
}

}  // namespace

TEST_CASE("radix digits distinguish all different elements") {
  check_digits<float>({0.0F, -0.0F, 1.0F, 1.0000001F, -1e-45F, INFINITY, -INFINITY, NAN});
  check_digits<double>({0.0, 1.0, 1.0000000000000002, -5e-324, INFINITY, NAN});
  check_digits<Half>({Half(0.0F), Half(1.0F), Half(1.001F), Half(-6e-8F), Half(6e-8F), Half(NAN)});
  check_digits<BFloat16>(
      {BFloat16(0.0F), BFloat16(1.0F), BFloat16(1.008F), BFloat16(-1e-40F), BFloat16(NAN)});
  check_digits<std::uint8_t>({0, 1, 127, 128, 255});
  check_digits<std::int32_t>({0, -1, 1, INT32_MAX, INT32_MIN});
  check_digits<std::int64_t>({0, -1, 1, INT64_MAX, INT64_MIN});
  CHECK(digit_count<BFloat16>() == 2);
  CHECK(digit_count<Half>() == 3);
  CHECK(digit_count<std::uint8_t>() == 1);
}
