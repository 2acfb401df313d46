// Parts that kernels share: convert to integers, move_bytes, Walk over strided arrays, and running Moments.
#include "kernel/convert.h"
#include "kernel/cpu/vector.h"
#include "kernel/cpu/walk.h"
#include "kernel/reducers.h"
#include "support/catch.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace ebb;
using cpu::move_bytes;
using cpu::Walk;

// Conversions to integers at the limits of their ranges.

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

TEST_CASE(
    "converting a floating number that is out of range to an integer gives the minimum of the integer type") {
  check_ends<std::int32_t, float>();
  check_ends<std::int32_t, double>();
  check_ends<std::int64_t, float>();
  check_ends<std::int64_t, double>();
}

// move_bytes: rows of bytes, moved with registers or with a call.

namespace {

std::vector<char> numbered(std::size_t bytes) {
  std::vector<char> made(bytes);
  for (std::size_t i = 0; i < bytes; ++i) made[i] = static_cast<char>(i * 7 % 251);
  return made;
}

}  // namespace

TEST_CASE("move_bytes copies any number of bytes at any alignment and changes no others") {
  const auto bytes = GENERATE(as<std::size_t>{}, 0, 1, 1023, 1024, 1025, 1150, 4068, 4096, (1 << 20) - 1,
                              1 << 20, (1 << 20) + 1);
  const auto from = GENERATE(as<std::size_t>{}, 0, 3, 32), to = GENERATE(as<std::size_t>{}, 0, 28, 31, 63);
  INFO(bytes << " bytes from " << from << " to " << to);
  const std::vector<char> source = numbered(bytes + 200);
  std::vector<char> target(bytes + 200, 'x'), expected = target;
  std::copy_n(source.begin() + static_cast<std::ptrdiff_t>(from), bytes,
              expected.begin() + static_cast<std::ptrdiff_t>(to));
  move_bytes(target.data() + to, source.data() + from, bytes);
  REQUIRE((target == expected));
}

TEST_CASE("move_bytes copies overlapping rows correctly") {
  const std::size_t bytes = 5000;
  const auto distance = GENERATE(as<std::size_t>{}, 1, 100, 4999);
  const bool forward = GENERATE(false, true);
  const std::vector<char> before = numbered(2 * bytes);
  std::vector<char> now = before, expected = before;
  const std::size_t from = forward ? 0 : distance, to = forward ? distance : 0;
  for (std::size_t i = 0; i < bytes; ++i) expected[to + i] = before[from + i];
  move_bytes(now.data() + to, now.data() + from, bytes);
  REQUIRE((now == expected));
}

// Iteration over several arrays of one shape.

namespace {

using List = std::vector<std::int64_t>;

// Returns the number of visits of each element of the first array, which is contiguous.
std::vector<int> visits(const List& sizes, const List& first, const List& second) {
  const Walk<2> walk(sizes, {first, second});
  std::int64_t numel = 1;
  for (const std::int64_t size : sizes) numel *= size;
  std::vector<int> seen(static_cast<std::size_t>(numel));
  walk([&](std::int64_t n, const Walk<2>::Offsets& at, const Walk<2>::Offsets& step) {
    for (std::int64_t i = 0; i < n; ++i) ++seen[static_cast<std::size_t>(at[0] + i * step[0])];
  });
  return seen;
}

}  // namespace

TEST_CASE("the iterator over two arrays visits every element once, for any strides of the second array") {
  const List sizes{70, 300}, steps{300, 1};
  const List other = GENERATE(values<List>({{300, 1}, {1, 0}, {0, 1}, {1, 70}, {0, 0}}));
  REQUIRE((visits(sizes, steps, other) == std::vector<int>(70 * 300, 1)));
}

TEST_CASE("the iterator over two empty arrays makes no call") {
  const List sizes = GENERATE(values<List>({{0}, {4, 0}, {0, 4}}));
  const List steps = sizes.size() == 1 ? List{1} : List{sizes[1], 1};
  REQUIRE(visits(sizes, steps, steps).empty());
}

// Running moments, which devices merge: the variance must not depend on how elements are distributed.

using Moments = ebb::reducers::Moments<double>;

namespace {

Moments taken(const std::vector<double>& x, std::size_t first, std::size_t last) {
  Moments m = Moments::none();
  for (std::size_t i = first; i < last; ++i) m.take(x[i]);
  return m;
}

}  // namespace

TEST_CASE("merged moments of parts equal the moments of all elements, for every split and offset") {
  for (const double offset : {0.0, 1e6, -1e8}) {
    std::vector<double> x;
    for (int i = 0; i < 40; ++i) x.push_back(offset + std::sin(1.7 * i) + 0.1 * i);
    double mean = 0, squares = 0;
    for (const double v : x) mean += (v - offset) / 40;
    for (const double v : x) squares += (v - offset - mean) * (v - offset - mean);
    for (std::size_t a = 0; a <= x.size(); a += 5)
      for (std::size_t b = a; b <= x.size(); b += 5) {
        INFO("cut at " << a << " and " << b << ", offset " << offset);
        const Moments left = taken(x, 0, a), middle = taken(x, a, b), right = taken(x, b, x.size());
        for (const Moments& m : {Moments::merge(Moments::merge(left, middle), right),
                                 Moments::merge(left, Moments::merge(middle, right))}) {
          CHECK(m.count == 40);
          CHECK(m.mean() - offset == Approx(mean).margin(1e-7));
          CHECK(m.deviations() == Approx(squares).epsilon(1e-6));
        }
      }
  }
}
