// Teams of threads for contiguous rows: how many threads share a row, and which of its elements each keeps.
#pragma once

#include <ebb/core/half.h>

#include "kernel/grid.h"

namespace ebb {

constexpr int kTeamThreads = 1024;  // of one row at most
constexpr int kKeptThreads = 512;   // of a row that is kept in registers: enough for 128 a thread
constexpr int kTeamBlock = 256;     // threads of a block of small teams

/// Threads of a row of n elements when each takes about `elements` of them.
constexpr int row_team(std::int64_t n, int elements) {
  return covering_power(ceil_div(n, elements), 4, kTeamThreads);
}
/// Rows of a block: teams that fit into a warp share one.
constexpr int rows_per_block(int team) { return team <= 32 ? kTeamBlock / team : 1; }

/// Which elements of a row of n one thread of a team keeps, in `units` of `width`: neighbours where rows are
/// whole aligned vectors, elements that lie a team apart elsewhere.
struct RowSlots {
  int n, rank, size, width;
  bool vectors;

  EBB_HD int index(int unit, int j) const {
    return vectors ? (unit * size + rank) * width + j : (unit * width + j) * size + rank;
  }
  EBB_HD bool has(int unit, int j) const { return index(unit, vectors ? 0 : j) < n; }
};

}  // namespace ebb
