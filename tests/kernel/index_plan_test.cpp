// The index arithmetic of device kernels, at sizes around the limit of 32 bits.
#include "kernel/elementwise_plan.h"
#include "support/catch.h"

#include <cstdint>
#include <map>
#include <vector>

using namespace ebb;

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
