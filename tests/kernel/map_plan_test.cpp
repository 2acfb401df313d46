// Plans of elementwise kernels: the index plan and the map plan.
#include "kernel/map_plan.h"

#include "kernel/elementwise_plan.h"
#include "kernel/strided_dims.h"
#include "support/catch.h"

#include <cstdint>
#include <map>
#include <vector>

using namespace ebb;

// The index arithmetic of device kernels, at sizes around the limit of 32 bits.

TEST_CASE("division by multiplication equals integer division") {
  const std::vector<std::uint32_t> numbers = {0,
                                              1,
                                              2,
                                              3,
                                              5,
                                              7,
                                              31,
                                              32,
                                              33,
                                              100,
                                              255,
                                              256,
                                              65535,
                                              65536,
                                              65537,
                                              1000003,
                                              (1u << 30) - 1,
                                              1u << 30,
                                              (1u << 31) - 2,
                                              (1u << 31) - 1};
  for (const std::uint32_t d : numbers) {
    if (d == 0) continue;
    const FastDivisor divisor(d);
    for (const std::uint32_t n : numbers) {
      INFO(n << " / " << d);
      CHECK(divisor.divide(n) == n / d);
    }
    for (std::uint64_t k = 1; k * d < (std::uint64_t{1} << 31); k *= 3) {
      CHECK(divisor.divide(static_cast<std::uint32_t>(k * d)) == k);
      CHECK(divisor.divide(static_cast<std::uint32_t>(k * d - 1)) == k - 1);
    }
  }
}

namespace {

ElementwisePlan<2> plan_of(std::vector<std::int64_t> sizes, std::vector<std::int64_t> to,
                           std::vector<std::int64_t> from) {
  ElementwisePlan<2> plan;
  plan.dims = static_cast<int>(sizes.size());
  plan.numel = 1;
  for (int d = 0; d < plan.dims; ++d) {
    plan.numel *= sizes[d];
    plan.sizes[d] = sizes[d];
    plan.strides[0][d] = to[d];
    plan.strides[1][d] = from[d];
  }
  return plan;
}

}  // namespace

TEST_CASE("plan_elementwise merges contiguous dimensions and gives scalars stride 0") {
  const NdArray out = NdArray::empty({2, 3}, kFloat), in = NdArray::empty({2, 3}, kDouble);
  const ElementwisePlan<3> plan = plan_elementwise<3>("map", {&out, &in, nullptr});
  CHECK(plan.dims == 1);
  CHECK(plan.sizes[0] == 6);
  CHECK(plan.strides[0][0] == 4);
  CHECK(plan.strides[1][0] == 8);
  CHECK(plan.strides[2][0] == 0);
  // A broadcast row cannot be merged.
  const NdArray row = NdArray::empty({3}, kFloat);
  const ElementwisePlan<2> rows = plan_elementwise<2>("map", {&out, &row});
  CHECK(rows.dims == 2);
  CHECK(rows.strides[1][1] == 0);
  CHECK(plan_elementwise<1>("map", {&row}).dims == 1);
  const NdArray one = NdArray::empty({1, 1}, kFloat);
  CHECK(plan_elementwise<2>("map", {&one, &one}).dims == 0);
}

TEST_CASE("IndexPlan computes the offset of every element") {
  const ElementwisePlan<2> plan = plan_of({6, 3, 4}, {4, 24, 72}, {8, 0, -160});
  for (const std::int64_t width : {1, 2}) {
    IndexPlan<2> device;
    index_plan(device, plan, width);
    CHECK(device.units == 72 / width);
    for (std::uint32_t unit = 0; unit < device.units; ++unit) {
      const std::int64_t per_row = 6 / width, i = unit % per_row * width, j = unit / per_row % 3,
                         k = unit / per_row / 3;
      std::int32_t offsets[2];
      device.offsets(unit, offsets);
      CHECK(offsets[0] == i * 4 + j * 24 + k * 72);
      CHECK(offsets[1] == i * 8 - k * 160);
    }
  }
}

TEST_CASE("for_each_32_bit_part covers large plans once with parts that fit in 32 bits") {
  const std::int64_t edge = std::int64_t{1} << 31;
  for (const std::int64_t n :
       {edge / 4 - 1, edge / 4, edge / 4 + 1, edge - 1, edge, edge + 1, 5 * edge + 3}) {
    const ElementwisePlan<2> plan = plan_of({n, 3}, {4, 4 * n}, {4, 0});
    std::map<std::int64_t, std::int64_t> pieces;  // of the output: first byte, number of bytes
    for_each_32_bit_part(plan, [&](const ElementwisePlan<2>& part, const std::int64_t(&from)[2]) {
      CHECK(part.fits_32_bits());
      CHECK(part.numel == part.sizes[0] * (part.dims > 1 ? part.sizes[1] : 1));
      // an even split preserves the alignment of a row
      CHECK(from[0] % 16 == n * 4 * (from[0] / (4 * n)) % 16);
      for (std::int64_t row = 0; row < (part.dims > 1 ? part.sizes[1] : 1); ++row) {
        const std::int64_t start = from[0] + row * 4 * n;
        pieces[start] = part.sizes[0] * 4;
        CHECK(start % (4 * n) == from[1]);  // the input repeats every row
      }
    });
    std::int64_t covered = 0;
    for (const auto& [start, bytes] : pieces) {
      CHECK(start == covered);
      covered += bytes;
    }
    CHECK(covered == 12 * n);
  }
}

// The map plan of elementwise kernels: when it uses vectors, and that it covers every element once.

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

TEST_CASE("map plan: an array with another alignment is read by elements, and the others by vectors") {
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

TEST_CASE("map plan: a broadcast bias uses vectors if rows consist of whole vectors") {
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

TEST_CASE("map plan: slices of rows use vectors if they consist of whole aligned vectors") {
  const Case<2> c({32, 7}, {{{4, 256}}, {{4, 512}}}, 4);
  REQUIRE(c.vectors);
  CHECK(c.map.plan.dims == 2);
  CHECK(c.map.remainder == 0);
  CHECK_FALSE(Case<2>({30, 7}, {{{4, 256}}, {{4, 512}}}, 4).vectors);
  CHECK_FALSE(Case<2>({32, 7}, {{{4, 256}, 4, kBase + 4}, {{4, 512}}}, 4).vectors);
}

TEST_CASE("map plan: large transposed arrays and arrays without a whole vector are processed by elements") {
  CHECK_FALSE(Case<2>({200, 300}, {{{4, 800}}, {{1200, 4}}}, 4).vectors);
  CHECK(Case<2>({20, 30}, {{{4, 80}}, {{120, 4}}}, 4).vectors);
  CHECK_FALSE(Case<2>({3}, {{{4}}, {{4}}}, 4).vectors);
  CHECK_FALSE(Case<2>({6}, {{{4}, 4, kBase + 4}, {{4}}}, 4).vectors);
}

TEST_CASE("map plan: arrays with more than three broadcast levels are processed by elements") {
  CHECK_FALSE(Case<2>({3, 3, 3, 3}, {{{4, 12, 36, 108}}, {{4, 0, 12, 0}}}, 4).vectors);
}

TEST_CASE("LevelIndex computes the right offset for indices up to 2^31 - 1") {
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
