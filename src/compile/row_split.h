// How rows of elements that a made kernel reduces are shared out among teams of threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernel/grid.h"

namespace ebb::compiling {

/// A pure function of sizes, and so is the order in which elements are merged. Long rows, if there are few,
/// are cut in pieces that a second launch merges.
struct RowSplit {
  static constexpr int kThreads = 256;                // of a block
  static constexpr std::int64_t kMostBlocks = 1024;   // that pieces are made for
  static constexpr std::int64_t kVectorsAThread = 4;  // and more, which are worth a second launch

  std::int64_t pieces = 1, piece = 0;  // of a row; elements of a piece
  std::int64_t team = 1, blocks = 0;
  std::int64_t merging_team = 1, merging_blocks = 0;  // of the second launch

  RowSplit(std::int64_t rows, std::int64_t length, int width) {
    const auto team_of = [](std::int64_t parts) {
      return covering_power(ceil_div(parts, kVectorsAThread), 1, kThreads);
    };
    const auto blocks_of = [](std::int64_t jobs, std::int64_t threads) {
      return ceil_div(jobs, kThreads / threads);
    };
    team = team_of(ceil_div(length, width));
    piece = length;
    const std::int64_t wanted =
        std::min(kMostBlocks / blocks_of(rows, team), ceil_div(length, kVectorsAThread * kThreads * width));
    if (wanted > 1) {
      const std::int64_t whole = team * width;
      piece = ceil_div(ceil_div(length, wanted), whole) * whole;
      pieces = ceil_div(length, piece);
    }
    blocks = blocks_of(rows * pieces, team);
    merging_team = team_of(pieces);
    merging_blocks = blocks_of(rows, merging_team);
  }
};

}  // namespace ebb::compiling
