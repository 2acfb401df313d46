// Interleaved lines by vectors: which columns a thread of a block takes, and which places of their lines.
// Pure functions of the shape and the device's size.
#pragma once

#include "kernel/grid.h"
#include "kernel/lines.h"

namespace ebb {

constexpr int kColumnThreads = 1024;  // of a block at most
constexpr int kColumnBlock = 256;     // of a block where nothing asks for more

/// A unit is `width` neighbouring columns. A block has `across` units side by side, `ranks` threads for each,
/// that take every ranks-th place of the lines, and `apart` such groups: those of a short inner size, where
/// what a warp reads together lies along the lines. All three are powers of 2.
struct ColumnPlan {
  int width = 1;
  int across = 1, ranks = 1, apart = 1;
  bool kept = false;       // a thread's places fit its registers
  std::int64_t inner = 1;  // units of an inner index
  std::int64_t units = 0, blocks = 0;

  EBB_HD int threads() const { return across * ranks * apart; }
  EBB_HD int rank(int thread) const { return thread / across & (ranks - 1); }
  /// The unit's place in the block.
  EBB_HD int place(int thread) const {
    return (thread & (across - 1)) + across * (thread / (across * ranks));
  }
  EBB_HD std::int64_t unit(std::int64_t block, int thread) const {
    return block * (across * apart) + place(thread);
  }
  /// The first element of a unit in its first line.
  EBB_HD std::int64_t start(std::int64_t unit, std::int64_t line) const {
    return unit / inner * line * inner * width + unit % inner * width;
  }
  /// Threads of a unit that lie in one warp, and how many warps a unit has.
  EBB_HD int ranks_of_a_warp() const {
    const int room = across < 32 ? 32 / across : 1;
    return ranks < room ? ranks : room;
  }
  EBB_HD int warps() const { return ranks / ranks_of_a_warp(); }
};

/// A thread can keep `keeps` units in its registers.
inline ColumnPlan plan_columns(const Lines& lines, int width, int keeps, int multiprocessors) {
  ColumnPlan plan;
  plan.width = width;
  plan.inner = lines.inner / width;
  plan.units = lines.outer * plan.inner;
  const int least =
      width > 1 ? 8 : 32;  // units that are read together: 128 bytes of vectors, a warp of others
  const int most = kColumnThreads / least;
  plan.ranks = covering_power(ceil_div(lines.n, keeps), 1, most);
  plan.kept = lines.n <= std::int64_t{plan.ranks} * keeps;
  // Long lines are shared by as many threads as there are only where the lines are few.
  if (!plan.kept && ceil_div(plan.units, least) >= 4 * std::int64_t{multiprocessors})
    plan.ranks = kColumnBlock / least;
  const int together = plan.ranks * least > kColumnBlock ? least : kColumnBlock / plan.ranks;
  plan.across = covering_power(plan.inner, 1, together);
  plan.apart = together / plan.across;
  plan.blocks = ceil_div(plan.units, together);
  return plan;
}

}  // namespace ebb
