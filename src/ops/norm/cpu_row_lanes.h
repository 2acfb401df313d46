// Short rows as lanes: a block of rows is transposed, so that each lane of a packet holds one row.
#pragma once

#include "kernel/cpu/transpose.h"
#include "ops/norm/cpu_rows.h"

namespace ebb::cpu {

/// Rows up to this length are normalized in blocks.
constexpr std::int64_t kLongestLane = 128;

/// One value for each row of a block.
template <class C>
using RowLanes = Eigen::Array<C, tiles::kWidth<C>, 1>;

/// Up to kRows rows of `width` <= kLongestLane elements. Missing rows are 0.
template <class C>
class RowBlock {
 public:
  static constexpr std::int64_t kRows = tiles::kWidth<C>;

  explicit RowBlock(std::int64_t width) : width_(width) { clear(); }

  void clear() { std::fill_n(lanes_, width_ * kRows, C(0)); }
  /// Loads `count` rows that are stored one after another.
  void load(const C* rows, std::int64_t count) {
    if (count < kRows) clear();
    transpose(rows, width_, count, width_, lanes_, kRows);
  }
  /// Returns `count` rows, one after another.
  ConstRow<C> rows(std::int64_t count) {
    transpose(lanes_, kRows, width_, count, rows_, width_);
    return {rows_, count * width_};
  }
  /// Returns element k of each row.
  auto operator[](std::int64_t k) { return Eigen::Map<RowLanes<C>, Eigen::AlignedMax>(lanes_ + k * kRows); }

 private:
  std::int64_t width_;
  alignas(64) C lanes_[kLongestLane * kRows];
  alignas(64) C rows_[kLongestLane * kRows];
};

/// Returns the sum of f(k) for k < n in each lane. It uses eight sums, because a short sum has a small error.
template <class C, class F>
RowLanes<C> sum_lanes(std::int64_t n, F&& f) {
  constexpr std::int64_t kSums = 8;
  RowLanes<C> sums[kSums];
#pragma GCC unroll 8
  for (std::int64_t i = 0; i < kSums; ++i) sums[i].setZero();
  std::int64_t k = 0;
  for (; k + kSums <= n; k += kSums)
#pragma GCC unroll 8
    for (std::int64_t i = 0; i < kSums; ++i) sums[i] += f(k + i);
#pragma GCC unroll 8
  for (std::int64_t i = 0; i < kSums; ++i)
    if (k + i < n) sums[i] += f(k + i);
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

}  // namespace ebb::cpu
