// Sizes of grids and thread groups, as pure functions of shapes.
#pragma once

#include <ebb/core/error.h>

#include <cstdint>

namespace ebb {

/// Returns the size of a grid of `blocks` blocks, at least 1; throws above 2^31 - 1. All blocks are along x,
/// because y and z are limited to 65535.
inline unsigned grid_blocks(std::int64_t blocks) {
  EBB_CHECK(blocks >= 0 && blocks <= INT32_MAX, "kernel launch: ", blocks,
            " blocks are more than a grid holds (2147483647). Split the array.");
  return blocks == 0 ? 1 : static_cast<unsigned>(blocks);
}

constexpr std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Returns the smallest power of 2 that is at least n, clamped to [least, most].
constexpr int covering_power(std::int64_t n, int least, int most) {
  int power = least;
  while (power < most && power < n) power *= 2;
  return power;
}

/// The division of rows into chunks. There are enough chunks to fill the device, and each chunk is large
/// enough to be worth a second pass.
struct RowPieces {
  std::int64_t pieces = 1, piece = 0;
};
constexpr RowPieces cut_rows(std::int64_t rows, std::int64_t jobs, std::int64_t wanted, std::int64_t least) {
  if (jobs >= wanted || rows < 2 * least) return {1, rows};
  const std::int64_t most = ceil_div(wanted, jobs), pieces = most < rows / least ? most : rows / least;
  const std::int64_t piece = ceil_div(rows, pieces);
  return {ceil_div(rows, piece), piece};
}

}  // namespace ebb
