// The map plan of elementwise kernels: when it uses vectors, and that it covers every element once.
#include "kernel/map_plan.h"

#include "kernel/strided_position.h"
#include "support/catch.h"

#include <cstdint>
#include <vector>

using namespace ebb;

namespace {

constexpr std::uintptr_t kBase = 4096;

struct Operand {
  std::vector<std::int64_t> strides;  // bytes, innermost first; empty for a scalar
  int size = 4;
  std::uintptr_t address = kBase;
};

template <int N>
struct Case {
  ElementwisePlan<N> plan;
  std::uintptr_t addresses[N];
  int sizes[N];
  MapPlan<N> map;
  bool vectors;

  Case(std::vector<std::int64_t> shape, const std::vector<Operand>& operands, int width) {
    plan.dims = static_cast<int>(shape.size());
    for (int d = 0; d < plan.dims; ++d) plan.numel *= plan.sizes[d] = shape[d];
    for (int i = 0; i < N; ++i) {
      const Operand& x = operands[i];
      addresses[i] = x.strides.empty() ? 0 : x.address;
      sizes[i] = x.size;
      for (int d = 0; d < plan.dims; ++d) plan.strides[i][d] = x.strides.empty() ? 0 : x.strides[d];
    }
    vectors = plan_vectors(map, plan, addresses, sizes, width);
    if (vectors) check(width);
  }

  // Checks that each element, in a unit or alone, is read at the address of the plain iteration.
  void check(int width) {
    std::vector<int> seen(static_cast<std::size_t>(plan.numel), 0);
    const auto expect = [&](std::int64_t out, int i, std::int64_t at) {
      // In the cases below, the output is dense up to its outer strides, so its offset identifies the
      // element.
      std::int64_t element = 0, rest = out;
      for (int d = plan.dims; d-- > 0;) {
        const std::int64_t place = rest / plan.strides[0][d];
        rest -= place * plan.strides[0][d];
        std::int64_t below = 1;
        for (int k = 0; k < d; ++k) below *= plan.sizes[k];
        element += place * below;
      }
      const auto offsets = StridedPosition<N, PlanOperands<N>>({plan}, element).offsets();
      if (i == 0) ++seen[static_cast<std::size_t>(element)];
      if (addresses[i] != 0) CHECK(at == offsets[i]);
    };
    for (std::uint32_t unit = 0; unit < map.plan.units; ++unit) {
      std::int32_t offsets[N];
      map.plan.offsets(unit, offsets);
      for (int j = 0; j < width; ++j) {
        const std::int64_t out = map.skip[0] + offsets[0] + j * sizes[0];
        for (int i = 0; i < N; ++i) {
          const std::int64_t start = map.skip[i] + offsets[i];
          const auto number = static_cast<std::uint32_t>(map.head + unit * map.spacing + j);
          if (addresses[i] == 0) continue;
          if (map.access[i] == Access::vector) {
            CHECK((addresses[i] + start) % (width * sizes[i]) == 0);
            expect(out, i, start + j * sizes[i]);
          } else if (map.access[i] == Access::splat) {
            expect(out, i, start);
          } else {
            expect(out, i, start + map.element[i].offset(number));
          }
        }
      }
    }
    for (std::uint32_t t = 0; t < map.remainder; ++t) {
      const std::uint32_t element = t < map.head ? t : t + map.plan.units * static_cast<std::uint32_t>(width);
      for (int i = 0; i < N; ++i) expect(map.element[0].offset(element), i, map.element[i].offset(element));
    }
    CHECK(seen == std::vector<int>(seen.size(), 1));
  }
};

}  // namespace

TEST_CASE("map plan: contiguous arrays use vectors and a scalar remainder") {
  const Case<2> c({103}, {{{4}}, {{4}}}, 4);
  REQUIRE(c.vectors);
  CHECK(c.map.plan.units == 25);
  CHECK(c.map.head == 0);
  CHECK(c.map.remainder == 3);
}

TEST_CASE("map plan: equally misaligned arrays have a scalar head") {
  const Case<3> c({103}, {{{4}, 4, kBase + 4}, {{4}, 4, kBase + 20}, {{}}}, 4);
  REQUIRE(c.vectors);
  CHECK(c.map.head == 3);
  CHECK(c.map.access[1] == Access::vector);
}

TEST_CASE("map plan: an array of another alignment is read by element and the others by vectors") {
  const Case<3> c({103}, {{{4}}, {{4}, 4, kBase + 4}, {{4}}}, 4);
  REQUIRE(c.vectors);
  CHECK(c.map.access[1] == Access::indexed);
  CHECK(c.map.access[2] == Access::vector);
}

TEST_CASE("map plan: arrays of different element sizes use vectors of equal count") {
  const Case<3> c({1003}, {{{1}, 1, kBase + 3}, {{4}, 4, kBase + 12}, {{2}, 2, kBase + 6}}, 4);
  REQUIRE(c.vectors);
  CHECK(c.map.head == 1);
  CHECK(c.map.access[1] == Access::vector);
  CHECK(c.map.access[2] == Access::vector);
}

TEST_CASE("map plan: a broadcast bias uses vectors if rows are whole vectors") {
  // [N, C] + [C]
  CHECK(Case<3>({64, 10}, {{{4, 256}}, {{4, 256}}, {{4, 0}}}, 4).map.access[2] == Access::vector);
  CHECK(Case<3>({63, 10}, {{{4, 252}}, {{4, 252}}, {{4, 0}}}, 4).map.access[2] == Access::indexed);
  // [N, C, HW] + [C, 1]
  CHECK(Case<3>({48, 5, 6}, {{{2, 96, 480}, 2}, {{2, 96, 480}, 2}, {{0, 2, 0}, 2}}, 8).map.access[2] ==
        Access::splat);
  CHECK(Case<3>({49, 5, 6}, {{{2, 98, 490}, 2}, {{2, 98, 490}, 2}, {{0, 2, 0}, 2}}, 8).map.access[2] ==
        Access::indexed);
  // A column and a row broadcast to a matrix.
  CHECK(Case<3>({7, 5}, {{{4, 28}}, {{4, 0}}, {{0, 4}}}, 4).vectors);
}

TEST_CASE("map plan: slices of rows use vectors if rows are whole vectors") {
  const Case<2> c({32, 7}, {{{4, 256}}, {{4, 512}}}, 4);
  REQUIRE(c.vectors);
  CHECK(c.map.plan.dims == 2);
  CHECK(c.map.remainder == 0);
  CHECK_FALSE(Case<2>({30, 7}, {{{4, 256}}, {{4, 512}}}, 4).vectors);
  CHECK_FALSE(Case<2>({32, 7}, {{{4, 256}, 4, kBase + 4}, {{4, 512}}}, 4).vectors);
}

TEST_CASE("map plan: large transposed and tiny arrays are processed by element") {
  CHECK_FALSE(Case<2>({200, 300}, {{{4, 800}}, {{1200, 4}}}, 4).vectors);
  CHECK(Case<2>({20, 30}, {{{4, 80}}, {{120, 4}}}, 4).vectors);
  CHECK_FALSE(Case<2>({3}, {{{4}}, {{4}}}, 4).vectors);
  CHECK_FALSE(Case<2>({6}, {{{4}, 4, kBase + 4}, {{4}}}, 4).vectors);
}

TEST_CASE("map plan: more than three broadcast levels are processed by element") {
  CHECK_FALSE(Case<2>({3, 3, 3, 3}, {{{4, 12, 36, 108}}, {{4, 0, 12, 0}}}, 4).vectors);
}

TEST_CASE("LevelIndex is right up to 2^31 - 1") {
  ElementwisePlan<1> plan;
  plan.dims = 2;
  plan.sizes[0] = 46341;
  plan.sizes[1] = 46340;
  plan.numel = plan.sizes[0] * plan.sizes[1];
  plan.strides[0][0] = 0;
  plan.strides[0][1] = 4;
  LevelIndex index;
  REQUIRE(detail::level_index(plan, 0, index));
  for (const std::int64_t n : {std::int64_t{0}, std::int64_t{46340}, std::int64_t{46341}, plan.numel - 1})
    CHECK(index.offset(static_cast<std::uint32_t>(n)) == n / 46341 * 4);
  plan.dims = 1;
  plan.sizes[0] = plan.numel = INT32_MAX;
  plan.strides[0][0] = 1;
  REQUIRE(detail::level_index(plan, 0, index));
  CHECK(index.offset(INT32_MAX - 1) == INT32_MAX - 1);
}
