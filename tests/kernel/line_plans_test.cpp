// How rows, scans, transposes and joins are distributed over the threads of a device.
#include "kernel/lines.h"
#include "kernel/strided_dims.h"
#include "ops/common/transpose_plan.h"
#include "ops/shape/join_plan.h"
#include "support/catch.h"

#include <cstdint>
#include <map>
#include <set>
#include <vector>

using namespace ebb;

namespace {

constexpr std::int64_t kEdge = std::int64_t{1} << 31;
constexpr int kMultiprocessors = 132;

}  // namespace

TEST_CASE("the threads of a row group hold every element of the row once") {
  for (const int n : {1, 3, 8, 10, 64, 257, 1000, 1024, 16384})
    for (const int elements : {8, 32})
      for (const bool vectors : {false, true}) {
        const int width = 4, size = row_team(n, elements);
        if ((vectors && n % width != 0) || n > elements * kKeptThreads) continue;
        INFO(n << " by " << size << (vectors ? " in vectors" : ""));
        std::vector<int> seen(static_cast<std::size_t>(n), 0);
        for (int rank = 0; rank < size; ++rank) {
          const RowSlots slots{n, rank, size, width, vectors};
          for (int u = 0; u < elements / width; ++u)
            for (int j = 0; j < width; ++j)
              if (slots.has(u, j)) ++seen[static_cast<std::size_t>(slots.index(u, j))];
        }
        CHECK(seen == std::vector<int>(seen.size(), 1));
        CHECK(size * rows_per_block(size) <= kTeamThreads);
      }
}

TEST_CASE("the threads of a block visit every element of its columns once") {
  for (const std::int64_t inner : {2, 4, 12, 37, 40, 64, 1024})
    for (const std::int64_t n : {1, 3, 19, 64, 128, 500, 512, 513, 2000})
      for (const std::int64_t outer : {1, 5})
        for (const int width : {1, 4}) {
          if (inner % width != 0) continue;
          const int keeps = width == 1 ? 16 : 4;
          const Lines lines({outer, n, inner}, 1);
          const ColumnPlan plan = plan_columns(lines, width, keeps, 2);
          INFO(outer << " x " << n << " x " << inner << " by " << width);
          CHECK(plan.kept == (n <= 512));
          REQUIRE(plan.threads() <= kColumnThreads);
          REQUIRE(plan.threads() % 32 == 0);
          // The block's partial results in shared memory must fit.
          CHECK(plan.threads() / plan.ranks_of_a_warp() <= (width > 1 ? kColumnBlock : kColumnThreads));
          std::vector<int> seen(static_cast<std::size_t>(outer * n * inner), 0);
          for (std::int64_t block = 0; block < plan.blocks; ++block)
            for (int t = 0; t < plan.threads(); ++t) {
              const std::int64_t unit = plan.unit(block, t);
              REQUIRE(plan.place(t) < plan.across * plan.apart);
              // Threads of a warp that share a unit are `across` lanes apart.
              const int first = t - plan.rank(t) % plan.ranks_of_a_warp() * plan.across;
              CHECK(plan.unit(block, first) == unit);
              CHECK(first / 32 == t / 32);
              if (unit >= plan.units) continue;
              for (std::int64_t i = plan.rank(t); i < n; i += plan.ranks)
                for (int j = 0; j < width; ++j)
                  ++seen[static_cast<std::size_t>(plan.start(unit, n) + i * inner + j)];
            }
          CHECK(seen == std::vector<int>(seen.size(), 1));
        }
}

TEST_CASE("plan_columns groups adjacent columns, and uses many threads per line for few long lines") {
  const auto plan = [](std::int64_t outer, std::int64_t n, std::int64_t inner) {
    return plan_columns(Lines({outer, n, inner}, 1), 4, 4, kMultiprocessors);
  };
  CHECK(plan(8, 19, 65536).across == 32);
  CHECK(plan(8, 19, 65536).ranks == 8);
  CHECK(plan(8, 64, 4).across == 1);  // 64 x 4 numbers are contiguous
  CHECK(plan(8, 64, 4).apart == 16);
  CHECK(plan(1, 100000, 64).ranks == 128);
  CHECK(plan(100000, 1000, 64).ranks == 32);
  CHECK(plan(kEdge / 4, 3, 1024).units == kEdge / 4 * 256);
  CHECK(plan(kEdge / 4, 3, 1024).start(kEdge / 4 * 256 - 1, 3) == (kEdge / 4 - 1) * 3 * 1024 + 1020);
}

TEST_CASE("the chunks of a scan cover each line, and lines are split only if there are few") {
  for (const std::int64_t n :
       {std::int64_t{1}, std::int64_t{1000}, std::int64_t{100000}, kEdge - 1, kEdge, kEdge + 1})
    for (const std::int64_t lines : {1, 2, 100, 10000}) {
      INFO(lines << " lines of " << n);
      const Lines rows({lines, n}, 1), columns({n, lines}, 0);
      for (const ScanPlan& plan :
           {plan_scan_rows(rows, kMultiprocessors), plan_scan_columns(columns, kMultiprocessors)}) {
        CHECK(plan.chunks * plan.chunk >= n);
        CHECK((plan.chunks - 1) * plan.chunk < n);
        CHECK(lines * plan.chunks <= INT32_MAX);
      }
      const ScanPlan by_rows = plan_scan_rows(rows, kMultiprocessors);
      if (by_rows.chunks > 1) CHECK(by_rows.chunk % (by_rows.threads * kScanItems) == 0);
    }
  CHECK(plan_scan_rows(Lines({1, kEdge}, 1), kMultiprocessors).chunks > kMultiprocessors);
  CHECK(plan_scan_rows(Lines({10000, 100000}, 1), kMultiprocessors).chunks == 1);
  CHECK(plan_scan_columns(Lines({100000, 8}, 0), kMultiprocessors).chunks > 100);
}

TEST_CASE("the vectors of a scan are aligned after the padding of scan_pad") {
  for (const int width : {2, 4, 8})
    for (std::uint64_t at = 64; at < 73; ++at)
      for (std::int64_t n = 1; n < 20; ++n)
        for (const bool reverse : {false, true}) {
          const int pad = scan_pad(at, n, width, reverse);
          CHECK((pad >= 0 && pad < width));
          // The first element of the first vector in memory, which is its last position if the scan runs
          // backwards.
          const std::int64_t first = -pad, last = first + width - 1,
                             lies = static_cast<std::int64_t>(at) + (reverse ? n - 1 - last : first);
          CHECK(lies % width == 0);
        }
  CHECK(plan_scan_rows(Lines({1, 1 << 24}, 1), kMultiprocessors, 8).chunk % (kScanThreads * 8) == 0);
  CHECK(plan_scan_rows(Lines({1, 2048}, 1), kMultiprocessors, 8).threads == kScanThreads);
  CHECK(plan_scan_rows(Lines({1, 2048}, 1), kMultiprocessors, 8).chunks == 1);
}

TEST_CASE("cut_rows divides the rows into pieces that cover all of them") {
  for (const std::int64_t rows :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{63}, std::int64_t{64}, kEdge + 1})
    for (const std::int64_t jobs : {1, 7, 1000}) {
      const RowPieces cut = cut_rows(rows, jobs, 528, 32);
      CHECK(cut.pieces * cut.piece >= rows);
      CHECK((cut.pieces == 1 || (cut.pieces - 1) * cut.piece < rows));
    }
  CHECK(cut_rows(1 << 20, 1, 528, 32).pieces == 528);
}

namespace {

ElementwisePlan<2> walk_of(std::vector<std::int64_t> sizes, std::vector<std::int64_t> out,
                           std::vector<std::int64_t> in) {
  ElementwisePlan<2> walk;
  walk.dims = static_cast<int>(sizes.size());
  for (int d = 0; d < walk.dims; ++d) {
    walk.numel *= walk.sizes[d] = sizes[d];
    walk.strides[0][d] = out[d];
    walk.strides[1][d] = in[d];
  }
  return walk;
}

}  // namespace

TEST_CASE("plan_transpose covers every element once") {
  // NHWC from NCHW: (C, HW, N) from the innermost dimension.
  const std::int64_t channels = 40, places = 70, batch = 3, side = 32;
  const ElementwisePlan<2> walk = walk_of({channels, places, batch}, {2, 2 * channels, 2 * channels * places},
                                          {4 * places, 4, 4 * channels * places});
  TransposePlan plan;
  REQUIRE(plan_transpose(plan, walk, 2, 4, side));
  CHECK(plan.blocks == 2 * 3 * 3);
  std::map<std::int64_t, std::int64_t> from;  // by position in the result
  for (std::int64_t block = 0; block < plan.blocks; ++block) {
    std::int64_t row, column, out, in;
    plan.tile(static_cast<std::uint32_t>(block), side, row, column, out, in);
    for (std::int64_t r = row; r < std::min(row + side, plan.rows); ++r)
      for (std::int64_t c = column; c < std::min(column + side, plan.columns); ++c)
        CHECK(from.emplace(out + r * plan.out_row + c, in + c * plan.in_column + r).second);
  }
  CHECK(static_cast<std::int64_t>(from.size()) == walk.numel);
  for (std::int64_t n = 0; n < walk.numel; n += 17) {
    const auto offsets = StridedPosition<2, PlanOperands<2>>({walk}, n).offsets();
    CHECK(from.at(offsets[0] / 2) == offsets[1] / 4);
  }
}

TEST_CASE("plan_transpose accepts more than 2^31 elements and declines too many tiles") {
  TransposePlan plan;
  REQUIRE(plan_transpose(plan, walk_of({kEdge + 1, 16}, {1, kEdge + 1}, {16, 1}), 1, 1, 64));
  std::int64_t row, column, out, in;
  plan.tile(static_cast<std::uint32_t>(plan.blocks - 1), 64, row, column, out, in);
  CHECK(column == kEdge);
  CHECK(row == 0);
  CHECK_FALSE(plan_transpose(plan, walk_of({8, 8, kEdge}, {1, 8, 64}, {8, 1, 64}), 1, 1, 64));
  CHECK_FALSE(plan_transpose(
      plan, walk_of({8, 8, kEdge / 2, 4}, {1, 8, 64, 64 * (kEdge / 2)}, {8, 1, 64, 64 * (kEdge / 2)}), 1, 1,
      64));
}

TEST_CASE("plan_transpose declines copies that do not transpose a large matrix") {
  TransposePlan plan;
  CHECK_FALSE(plan_transpose(plan, walk_of({64, 64}, {4, 256}, {4, 512}), 4, 4, 32));
  CHECK_FALSE(plan_transpose(plan, walk_of({64, 64}, {4, 256}, {0, 4}), 4, 4, 32));
  CHECK_FALSE(plan_transpose(plan, walk_of({64, 64}, {4, 256}, {8, 512}), 4, 4, 32));
  CHECK_FALSE(plan_transpose(plan, walk_of({3, 64}, {4, 12}, {256, 4}), 4, 4, 32));
}

TEST_CASE("plan_join copies every unit of every piece once") {
  char* const out = reinterpret_cast<char*>(std::uintptr_t{4096});
  const JoinRun runs[] = {{reinterpret_cast<const char*>(std::uintptr_t{64}), 0, 4096},
                          {reinterpret_cast<const char*>(std::uintptr_t{8192}), 4096, 8},
                          {reinterpret_cast<const char*>(std::uintptr_t{72}), 4104, 40000}};
  const JoinPlan plan = plan_join(out, 44104, 3, runs, 3);
  CHECK(plan.unit == 8);
  std::set<std::int64_t> places;
  for (std::uint32_t block = 0; block < plan.blocks[3]; ++block) {
    const int piece = plan.piece_of(block);
    CHECK(plan.blocks[piece] <= block);
    CHECK(block < plan.blocks[piece + 1]);
    const std::uint32_t first = (block - plan.blocks[piece]) * kJoinThreads * kJoinLoads;
    for (std::uint32_t i = first; i < std::min(first + kJoinThreads * kJoinLoads, plan.units[piece]); ++i) {
      const std::int64_t place = plan.place(piece, i), row = i * 8 / runs[piece].width;
      CHECK(place * 8 == row * 44104 + runs[piece].at + (i * 8 - row * runs[piece].width));
      CHECK(places.insert(place).second);
    }
  }
  CHECK(places.size() == 3 * 44104 / 8);
  const JoinRun odd[] = {{reinterpret_cast<const char*>(std::uintptr_t{64}), 0, 6}};
  CHECK(plan_join(out, 6, 5, odd, 1).unit == 2);
  const JoinRun wide[] = {{reinterpret_cast<const char*>(std::uintptr_t{64}), 0, INT32_MAX - 15}};
  CHECK(plan_join(out, INT32_MAX - 15, 1, wide, 1).units[0] == (INT32_MAX - 15) / 16);
}
