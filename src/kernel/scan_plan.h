// How running sums are cut over a device: lines too few to fill it are cut into chunks, whose totals are
// scanned first. A pure function of the shape and the device's size.
#pragma once

#include <algorithm>

#include "kernel/grid.h"
#include "kernel/lines.h"

namespace ebb {

constexpr int kScanThreads = 256;
constexpr int kScanItems = 4;  // neighbouring elements of a thread, of those that it loads one by one

struct ScanPlan {
  int threads = kScanThreads;  // of a block
  std::int64_t chunks = 1;     // of a line
  std::int64_t chunk = 0;      // elements, the last chunk's perhaps fewer
};

/// Where the tiles of a contiguous line begin that is read by vectors of `width` elements: so many places
/// before its first, as the scan goes, that every vector is aligned. `at` is where the line begins in memory,
/// in elements.
EBB_HD constexpr int scan_pad(std::uint64_t at, std::int64_t n, int width, bool reverse) {
  const std::uint64_t end = at + static_cast<std::uint64_t>(n), w = static_cast<std::uint64_t>(width);
  return static_cast<int>(reverse ? (w - end % w) % w : at % w);
}

/// Contiguous lines: a block a chunk, which it takes tile by tile, `items` elements a thread.
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

/// Interleaved lines: a thread a chunk.
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
