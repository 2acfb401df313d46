// Iteration over several arrays of one shape.
#include "kernel/cpu/walk.h"

#include "support/catch.h"

#include <vector>

using namespace ebb;
using cpu::Walk;

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

TEST_CASE("the element iterator visits every element once for any strides of the other array") {
  const List sizes{70, 300}, steps{300, 1};
  const List other = GENERATE(values<List>({{300, 1}, {1, 0}, {0, 1}, {1, 70}, {0, 0}}));
  REQUIRE((visits(sizes, steps, other) == std::vector<int>(70 * 300, 1)));
}

TEST_CASE("the element iterator over an empty array makes no call") {
  const List sizes = GENERATE(values<List>({{0}, {4, 0}, {0, 4}}));
  const List steps = sizes.size() == 1 ? List{1} : List{sizes[1], 1};
  REQUIRE(visits(sizes, steps, steps).empty());
}
