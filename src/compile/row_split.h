// How rows or columns of elements that a made kernel reduces are shared out among teams of threads.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernel/grid.h"

namespace ebb::compiling {

/// Elements as a matrix of so many rows, of which each row is reduced, or each column.
struct ReducedMatrix {
  std::int64_t rows = 1;
  bool by_columns = false;
  bool operator==(const ReducedMatrix&) const = default;
};

/// A pure function of sizes, and so is the order in which elements are merged. Long rows, if there are few,
/// are cut in pieces that a second launch merges.
struct RowSplit {
  static constexpr int kThreads = 256;                // of a block
  static constexpr std::int64_t kMostBlocks = 1024;   // that pieces are made for
  static constexpr std::int64_t kVectorsAThread = 4;  // and more, which are worth a second launch

  std::int64_t pieces = 1, piece = 0;  // of a row, and their elements; by columns of all rows, and their rows
  std::int64_t team = 1, blocks = 0;   // threads of a piece; by columns those that stand side by side
  std::int64_t merging_team = 1, merging_blocks = 0;  // the same of the second launch

  RowSplit(const ReducedMatrix& shape, std::int64_t count, int width) {
    if (shape.by_columns)
      split_columns(shape.rows, count / shape.rows, width);
    else
      split_rows(shape.rows, count / shape.rows, width);
  }

 private:
  void split_rows(std::int64_t rows, std::int64_t length, int width) {
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

  void split_columns(std::int64_t rows, std::int64_t columns, int width) {
    const std::int64_t deep = ceil_div(rows, kVectorsAThread);
    team = covering_power(ceil_div(columns, width), 1, kThreads / covering_power(deep, 1, 8));
    const std::int64_t tiles = ceil_div(columns, team * width), down = kThreads / team;
    piece = rows;
    const std::int64_t wanted = std::min(kMostBlocks / tiles, ceil_div(rows, kVectorsAThread * down));
    if (wanted > 1) {
      piece = ceil_div(rows, wanted);
      pieces = ceil_div(rows, piece);
    }
    blocks = tiles * pieces;
    const std::int64_t few = ceil_div(pieces, kVectorsAThread);
    merging_team = covering_power(columns, 1, kThreads / covering_power(few, 1, kThreads));
    merging_blocks = ceil_div(columns, merging_team);
  }
};

}  // namespace ebb::compiling
