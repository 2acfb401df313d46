// The launch of reductions: every element is covered once, no grid is too large, and vectors are used only if
// they are aligned.
#include "kernel/reduce_launch.h"

#include "support/catch.h"

#include <cstdint>
#include <vector>

using namespace ebb;

namespace {

constexpr int kMultiprocessors = 132;

struct Shape {
  std::vector<std::int64_t> sizes, strides;
};

Shape contiguous(std::vector<std::int64_t> sizes) {
  std::vector<std::int64_t> strides(sizes.size(), 1);
  for (std::size_t d = sizes.size() - 1; d-- > 0;) strides[d] = strides[d + 1] * sizes[d + 1];
  return {sizes, strides};
}

struct Planned {
  ReducePlan plan;
  ReduceLaunch how;
  Planned(const Shape& x, DimMask mask, int size = 4, std::uintptr_t address = 512)
      : plan(plan_reduce(IntArrayRef(x.sizes.data(), x.sizes.size()),
                         IntArrayRef(x.strides.data(), x.strides.size()), mask)),
        how(plan_reduce_launch(plan, address, size, 16 / size, 16 / size, kMultiprocessors)) {
    CHECK((how.pieces - 1) * how.piece < std::max<std::int64_t>(plan.count, 1));
    CHECK(how.pieces * how.piece >= plan.count);
    CHECK((how.pieces == 1 || how.piece % 64 == 0));
    CHECK(how.threads * how.others <= (how.columns ? kReduceThreads : kReduceTeam));
    CHECK((how.columns || how.threads <= 32 || how.others == 1));
    CHECK((how.piece_threads <= 32 || how.piece_outputs == 1));
    CHECK(how.blocks <= INT32_MAX);
    CHECK(how.piece_blocks <= INT32_MAX);
    if (how.columns) {
      CHECK(plan.outputs % how.width == 0);
      CHECK(how.blocks / how.pieces * how.threads * how.width >= plan.outputs);
      CHECK(how.blocks % how.pieces == 0);
    } else {
      CHECK(how.blocks * how.others >= plan.outputs * how.pieces);
      CHECK((how.width == 1 || how.run || plan.count % how.width == 0));
    }
    CHECK(how.piece_blocks * how.piece_outputs >= plan.outputs);
  }
};

}  // namespace

TEST_CASE("the launch of a reduction covers every element once") {
  for (const std::int64_t rows : {1, 7, 33, 1000, 100000})
    for (const std::int64_t columns : {1, 8, 31, 100, 5000, 100000})
      for (const DimMask mask : {DimMask{1}, DimMask{2}, DimMask{3}}) {
        INFO(rows << " x " << columns << ", mask " << mask);
        Planned(contiguous({rows, columns}), mask);
      }
}

TEST_CASE("the launch of a reduction can cover more than 2^31 elements and outputs") {
  const std::int64_t edge = std::int64_t{1} << 31;
  for (const std::int64_t n : {edge - 1, edge, edge + 1, 16 * edge + 8}) {
    INFO(n);
    for (const DimMask mask : {DimMask{1}, DimMask{2}, DimMask{3}}) {
      Planned(contiguous({n, 1}), mask, 1);
      Planned(contiguous({n, 2}), mask, 1);
      Planned(contiguous({2, n}), mask, 1);
      Planned(contiguous({n, 12}), mask, 1);
    }
  }
}

TEST_CASE("reductions use vectors if runs are long, or if all runs are aligned") {
  CHECK(Planned(contiguous({10, 1001}), 2).how.run);
  CHECK(Planned(contiguous({10, 1001}), 2).how.width == 4);
  CHECK(Planned(contiguous({10, 1001}), 2, 4, 516).how.width == 4);
  CHECK(Planned(contiguous({10, 7}), 2).how.width == 1);
  // Reduction over batch and positions of (N, C, HW).
  CHECK(Planned(contiguous({8, 16, 64}), 5).how.width == 4);
  CHECK_FALSE(Planned(contiguous({8, 16, 64}), 5).how.run);
  CHECK(Planned(contiguous({8, 16, 49}), 5).how.width == 1);
  CHECK(Planned(contiguous({8, 16, 64}), 5, 4, 516).how.width == 1);
  CHECK(Planned({{8, 16, 64}, {16 * 65, 65, 1}}, 5).how.width == 1);
}

TEST_CASE("column reductions use vectors if rows consist of whole aligned vectors") {
  CHECK(Planned(contiguous({1000, 64}), 1).how.columns);
  CHECK(Planned(contiguous({1000, 64}), 1).how.width == 4);
  CHECK(Planned(contiguous({1000, 63}), 1).how.width == 1);
  CHECK(Planned(contiguous({1000, 64}), 1, 4, 516).how.width == 1);
  CHECK(Planned({{1000, 64}, {65, 1}}, 1).how.width == 1);
  CHECK_FALSE(Planned(contiguous({1000, 4}), 1).how.columns);
}

TEST_CASE("short rows share a block and long rows are split over blocks") {
  CHECK(Planned(contiguous({100000, 16}), 2).how.threads == 1);
  CHECK(Planned(contiguous({100000, 16}), 2).how.others == kReduceThreads);
  CHECK(Planned(contiguous({1 << 20, 64}), 1).how.pieces > kMultiprocessors);
  CHECK(Planned(contiguous({4, 1 << 24}), 1).how.others == 1);
}

TEST_CASE(
    "rows of at most kWarpRow elements use one warp each if there are enough rows to fill the device twice") {
  const std::int64_t many = 2 * kReduceThreads / 32 * kReduceBlocks * kMultiprocessors;
  CHECK(Planned(contiguous({many, kWarpRow}), 2).how.threads == 32);
  CHECK(Planned(contiguous({many - 1, kWarpRow}), 2).how.threads == kReduceTeam);
  CHECK(Planned(contiguous({many, kWarpRow + 1}), 2).how.threads == kReduceTeam);
}

TEST_CASE("long reductions launch whole waves of blocks") {
  const std::int64_t wave = kReduceBlocks * kMultiprocessors;
  for (const int size : {2, 4, 8})
    for (const std::int64_t n : {std::int64_t{1} << 26, (std::int64_t{1} << 31) + 8})
      CHECK(Planned(contiguous({1, n}), 2, size).how.blocks == wave);
  CHECK(Planned(contiguous({1 << 20, 64}), 1).how.blocks <= wave);
  CHECK(Planned(contiguous({1 << 20, 64}), 1).how.blocks >= wave - 16);  // pieces are whole rounds of loads
  CHECK(Planned(contiguous({wave, 1 << 16}), 2).how.pieces == 1);
  CHECK(Planned(contiguous({4 * wave + 1, 1 << 16}), 2).how.pieces == 1);
  CHECK(Planned(contiguous({1, 40000}), 2).how.pieces == 4);  // few elements: longer pieces instead of many

  const Planned one(contiguous({1, 1 << 26}), 2);
  CHECK(plan_reduce_launch(one.plan, 512, 4, 4, 4, kMultiprocessors, 2).blocks == 2 * kMultiprocessors);

  CHECK(whole_waves(1, 528, 1000) == 528);
  CHECK(whole_waves(1, 528, 100) == 100);
  CHECK(whole_waves(300, 528, 100) == 5);  // 1500 of 1584 slots; unsplit, 300 of 528
  CHECK(whole_waves(264, 528, 100) == 2);
  CHECK(whole_waves(1000, 528, 100) == 1);  // 1000 of 1056 slots
  CHECK(whole_waves(600, 528, 100) == 3);   // 1800 of 2112 slots; unsplit, 600 of 1056
  for (std::int64_t jobs = 1; jobs < 3000; jobs += 7) {
    const std::int64_t blocks = jobs * whole_waves(jobs, 528, 1000);
    INFO(jobs << " jobs, " << blocks << " blocks");
    CHECK((jobs > 2112 || 100 * blocks >= 66 * 528 * ceil_div(blocks, 528)));
  }
}

TEST_CASE("DeviceDims computes the offsets of merged dimensions beyond 31 bits") {
  const std::int64_t big = (std::int64_t{1} << 31) + 8;
  SmallVector<ReduceDim, 6> dims;
  dims.push_back({6, 1000, 7});
  dims.push_back({big, 1, 10});
  const DeviceDims units(dims, 6 * big, 4);
  CHECK_FALSE(units.small);
  std::int64_t in, out;
  units.offsets(big / 4 + 5, in, out);
  CHECK(in == 1000 + 20);
  CHECK(out == 7 + 200);
  units.offsets(6 * big / 4 - 1, in, out);
  CHECK(in == 5000 + big - 4);
  dims[1].size = 20;
  const DeviceDims small(dims, 120, 4);
  CHECK(small.small);
  small.offsets(29, in, out);
  CHECK(in == 5000 + 16);
  CHECK(out == 35 + 160);
}

TEST_CASE("grid_blocks accepts up to 2^31 - 1 blocks") {
  CHECK(grid_blocks(0) == 1);
  CHECK(grid_blocks(INT32_MAX) == INT32_MAX);
  CHECK_THROWS_WITH(grid_blocks(std::int64_t{INT32_MAX} + 1),
                    support::Contains("kernel launch: 2147483648 blocks are more than a grid"));
  CHECK(ceil_div((std::int64_t{1} << 31) + 1, 256) == (1 << 23) + 1);
  CHECK(covering_power(33, 4, 512) == 64);
  CHECK(covering_power(std::int64_t{1} << 40, 4, 512) == 512);
}
