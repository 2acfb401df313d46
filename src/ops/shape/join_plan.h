// Plans joining arrays along a dimension in one launch. Each piece (input array) is `rows` runs of bytes with
// equally spaced destinations in the result. The plan is a pure function of shapes and addresses.
#pragma once

#include "kernel/elementwise_plan.h"
#include "kernel/grid.h"

namespace ebb {

constexpr int kJoinPieces = 48;  // pieces of one launch, limited by the size of the kernel's arguments
constexpr int kJoinThreads = 256;
constexpr int kJoinLoads = 4;  // units that a thread copies

/// One piece: its bytes, and their offset in a row of the result.
struct JoinRun {
  const char* from = nullptr;
  std::int64_t at = 0, width = 0;
};

struct JoinPlan {
  char* out = nullptr;
  std::int64_t pitch = 0;   // units of a row of the result
  int count = 0, unit = 1;  // the number of pieces; the bytes of a unit
  const char* from[kJoinPieces];
  std::int64_t at[kJoinPieces];           // units
  std::uint32_t units[kJoinPieces];       // the number of units of the whole piece
  FastDivisor width[kJoinPieces];         // units
  std::uint32_t blocks[kJoinPieces + 1];  // the number of blocks before each piece

  EBB_HD int piece_of(std::uint32_t block) const {
    int low = 0, high = count;
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      if (blocks[middle] <= block)
        low = middle;
      else
        high = middle;
    }
    return low;
  }
  /// Returns the destination of unit i of a piece, in units.
  EBB_HD std::int64_t place(int piece, std::uint32_t i) const {
    const std::uint32_t row = width[piece].divide(i);
    return row * pitch + at[piece] + (i - row * width[piece].divisor);
  }
};

/// Plans up to kJoinPieces pieces of `rows` runs, each below 2^31 bytes. Rows of the result are `pitch` bytes
/// apart.
inline JoinPlan plan_join(char* out, std::int64_t pitch, std::int64_t rows, const JoinRun* pieces,
                          int count) {
  JoinPlan plan;
  std::uint64_t all = reinterpret_cast<std::uintptr_t>(out) | static_cast<std::uint64_t>(pitch) | 16;
  for (int p = 0; p < count; ++p)
    all |= reinterpret_cast<std::uintptr_t>(pieces[p].from) | static_cast<std::uint64_t>(pieces[p].at) |
           static_cast<std::uint64_t>(pieces[p].width);
  plan.unit = static_cast<int>(all & (~all + 1));  // the largest power of 2 <= 16 that divides all values
  plan.out = out;
  plan.pitch = pitch / plan.unit;
  plan.count = count;
  constexpr std::int64_t kEach = kJoinThreads * kJoinLoads;
  plan.blocks[0] = 0;
  std::int64_t blocks = 0;
  for (int p = 0; p < count; ++p) {
    const std::int64_t width = pieces[p].width / plan.unit;
    plan.from[p] = pieces[p].from;
    plan.at[p] = pieces[p].at / plan.unit;
    plan.units[p] = static_cast<std::uint32_t>(rows * width);
    plan.width[p] = FastDivisor(static_cast<std::uint32_t>(width));
    blocks += ceil_div(rows * width, kEach);
    plan.blocks[p + 1] = static_cast<std::uint32_t>(blocks);
  }
  return plan;
}

}  // namespace ebb
