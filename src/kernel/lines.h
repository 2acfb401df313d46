// Lines: an array as [outer, n, inner], for kernels that work along one dimension. A line is the
// one-dimensional slice of n elements at one outer and one inner index. Lines are rows if inner is 1, and
// interleaved columns otherwise. The plans assign rows, columns and scans to the threads of a device; they
// are pure functions of the shape and the device's size.
#pragma once

#include <ebb/core/half.h>
#include <ebb/core/ndarray.h>

#include "kernel/grid.h"

#include <algorithm>
#include <cstdint>

namespace ebb {

/// A contiguous shape divided at one dimension.
struct Lines {
  std::int64_t outer = 1;
  std::int64_t n = 1;
  std::int64_t inner = 1;

  Lines(IntArrayRef sizes, std::int64_t dim) {
    for (std::size_t d = 0; d < sizes.size(); ++d) {
      std::int64_t& part = static_cast<std::int64_t>(d) < dim    ? outer
                           : static_cast<std::int64_t>(d) == dim ? n
                                                                 : inner;
      part *= sizes[d];
    }
  }
  EBB_HD std::int64_t count() const { return outer * inner; }
  /// Returns the offset of line i. The elements of a line are `inner` apart.
  EBB_HD std::int64_t start(std::int64_t i) const { return i / inner * n * inner + i % inner; }
};

constexpr int kTeamThreads = 1024;  // threads per row, at most
constexpr int kKeptThreads = 512;   // for a row that is kept in registers, with up to 128 elements per thread
constexpr int kTeamBlock = 256;     // threads per block of small teams

/// Returns the number of threads for a row of n elements, with about `elements` elements each.
constexpr int row_team(std::int64_t n, int elements) {
  return covering_power(ceil_div(n, elements), 4, kTeamThreads);
}
/// Returns the rows per block. Teams that fit into a warp share a block.
constexpr int rows_per_block(int team) { return team <= 32 ? kTeamBlock / team : 1; }

/// The elements of a row of n elements that thread `rank` of a team of `size` threads keeps, in units of
/// `width` elements. If `vectors` is true, rows consist of whole aligned vectors, and the elements of a unit
/// are adjacent. Otherwise they are `size` apart.
struct RowSlots {
  int n, rank, size, width;
  bool vectors;

  EBB_HD int index(int unit, int j) const {
    return vectors ? (unit * size + rank) * width + j : (unit * width + j) * size + rank;
  }
  EBB_HD bool has(int unit, int j) const { return index(unit, vectors ? 0 : j) < n; }
};

constexpr int kColumnThreads = 1024;  // threads per block, at most
constexpr int kColumnBlock = 256;     // threads per block by default

/// The plan of interleaved lines (columns). A unit consists of `width` adjacent columns and has `ranks`
/// threads, each of which processes every ranks-th element of the columns. A block processes `apart` groups
/// of `across` adjacent units. If the inner size is small, apart > 1, and a warp reads elements that are
/// adjacent along the columns. `across`, `ranks` and `apart` are powers of 2.
struct ColumnPlan {
  int width = 1;
  int across = 1, ranks = 1, apart = 1;
  bool kept = false;       // the elements of a thread fit into its registers
  std::int64_t inner = 1;  // units per outer index
  std::int64_t units = 0, blocks = 0;

  EBB_HD int threads() const { return across * ranks * apart; }
  EBB_HD int rank(int thread) const { return thread / across & (ranks - 1); }
  /// Returns the unit's index in the block.
  EBB_HD int place(int thread) const {
    return (thread & (across - 1)) + across * (thread / (across * ranks));
  }
  EBB_HD std::int64_t unit(std::int64_t block, int thread) const {
    return block * (across * apart) + place(thread);
  }
  /// Returns the offset of the first element of a unit. `line` is the length of a line.
  EBB_HD std::int64_t start(std::int64_t unit, std::int64_t line) const {
    return unit / inner * line * inner * width + unit % inner * width;
  }
  /// Returns the number of threads of a unit in one warp.
  EBB_HD int ranks_of_a_warp() const {
    const int room = across < 32 ? 32 / across : 1;
    return ranks < room ? ranks : room;
  }
  EBB_HD int warps() const { return ranks / ranks_of_a_warp(); }
};

/// Plans columns. A thread can hold `keeps` units in its registers.
inline ColumnPlan plan_columns(const Lines& lines, int width, int keeps, int multiprocessors) {
  ColumnPlan plan;
  plan.width = width;
  plan.inner = lines.inner / width;
  plan.units = lines.outer * plan.inner;
  const int least =
      width > 1 ? 8 : 32;  // units that are read together: 8 vectors (128 bytes), or 32 elements
  const int most = kColumnThreads / least;
  plan.ranks = covering_power(ceil_div(lines.n, keeps), 1, most);
  plan.kept = lines.n <= std::int64_t{plan.ranks} * keeps;
  // If there are enough units to fill the device, even long lines get only kColumnBlock / least threads.
  if (!plan.kept && ceil_div(plan.units, least) >= 4 * std::int64_t{multiprocessors})
    plan.ranks = kColumnBlock / least;
  const int together = plan.ranks * least > kColumnBlock ? least : kColumnBlock / plan.ranks;
  plan.across = covering_power(plan.inner, 1, together);
  plan.apart = together / plan.across;
  plan.blocks = ceil_div(plan.units, together);
  return plan;
}

constexpr int kScanThreads = 256;
constexpr int kScanItems = 4;  // adjacent elements per thread, for elements that are loaded one by one

struct ScanPlan {
  int threads = kScanThreads;  // per block
  std::int64_t chunks = 1;     // per line
  std::int64_t chunk = 0;      // elements; the last chunk may have fewer
};

/// Returns the number of positions by which the tiles of a contiguous line begin before its first element, so
/// that each vector of `width` elements is aligned. `at` is the address of the line in elements.
EBB_HD constexpr int scan_pad(std::uint64_t at, std::int64_t n, int width, bool reverse) {
  const std::uint64_t end = at + static_cast<std::uint64_t>(n), w = static_cast<std::uint64_t>(width);
  return static_cast<int>(reverse ? (w - end % w) % w : at % w);
}

/// Plans the scan of contiguous lines. A block scans a chunk tile by tile, with `items` elements per thread.
inline ScanPlan plan_scan_rows(const Lines& lines, int multiprocessors, int items = kScanItems) {
  ScanPlan plan;
  plan.threads = covering_power(ceil_div(lines.n, items), 32, kScanThreads);
  plan.chunk = lines.n;
  const std::int64_t tile = std::int64_t{kScanThreads} * items;
  const std::int64_t wanted = 8 * std::int64_t{multiprocessors};
  if (2 * lines.outer >= wanted || lines.n < 8 * tile) return plan;
  const std::int64_t most = ceil_div(wanted, lines.outer);
  plan.chunk = std::max(ceil_div(ceil_div(lines.n, most), tile), std::int64_t{4}) * tile;
  plan.chunks = ceil_div(lines.n, plan.chunk);
  return plan;
}

/// Plans interleaved lines, with one thread per chunk.
inline ScanPlan plan_scan_columns(const Lines& lines, int multiprocessors) {
  ScanPlan plan;
  plan.chunk = lines.n;
  const std::int64_t wanted = 1024 * std::int64_t{multiprocessors};
  if (2 * lines.count() >= wanted || lines.n < 128) return plan;
  plan.chunk = std::max(ceil_div(lines.n, ceil_div(wanted, lines.count())), std::int64_t{64});
  plan.chunks = ceil_div(lines.n, plan.chunk);
  return plan;
}

}  // namespace ebb
