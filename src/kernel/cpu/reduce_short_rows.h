// Reductions of several short rows together. The rows become columns of a block, so that registers are full.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace ebb::cpu {

constexpr std::int64_t kShortRow = 32;  // rows up to this length are reduced together
constexpr std::int64_t kRowsTogether = 16;
constexpr int kFewLanes = 8;  // accumulators for rows or remainders that are too short for many accumulators

/// True if Op may reduce rows together. Its accumulators must be plain numbers, and load() must not multiply.
/// The compiler might fuse a product with the sum here, but not in reduce_run(), and the results would
/// differ.
template <class Op>
constexpr bool joins_rows =
    std::is_arithmetic_v<typename Op::Acc> && !Op::kPerOutput && !requires { Op::kMultiplies; };

/// block[k * width + r] = element k of row r.
template <class T>
void transpose_rows(const T* x, std::int64_t stride, std::int64_t rows, std::int64_t count, T* block,
                    std::int64_t width) {
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t k = 0; k < count; ++k) block[k * width + r] = x[r * stride + k];
}

/// Computes the results of reduce_run() for kRowsTogether rows together. Each row has `count` <= kShortRow
/// elements and is a column of `block`.
template <class Op>
void reduce_short_rows(const Op& op, const typename Op::In* block, std::int64_t count,
                       typename Op::Acc* total) {
  using Acc = typename Op::Acc;
  constexpr std::int64_t kWidth = kRowsTogether, kLanes = kFewLanes;
  const auto merge = [&](Acc* acc, std::int64_t k) {
    for (std::int64_t r = 0; r < kWidth; ++r) acc[r] = op.merge(acc[r], op.load(block[k * kWidth + r], 0));
  };
  if (count < kLanes) {
    for (std::int64_t r = 0; r < kWidth; ++r) total[r] = op.identity();
    for (std::int64_t k = 0; k < count; ++k) merge(total, k);
    return;
  }
  const std::int64_t whole = count / kLanes * kLanes;
  Acc acc[kLanes * kWidth];
  for (std::int64_t i = 0; i < kLanes * kWidth; ++i) acc[i] = op.load(block[i], 0);
  for (std::int64_t k = kLanes; k < whole; ++k) merge(acc + k % kLanes * kWidth, k);
  for (std::int64_t lanes = kLanes / 2; lanes > 0; lanes /= 2)
    for (std::int64_t i = 0; i < lanes * kWidth; ++i) acc[i] = op.merge(acc[i], acc[i + lanes * kWidth]);
  for (std::int64_t k = whole; k < count; ++k) merge(acc, k);
  std::copy(acc, acc + kWidth, total);
}

}  // namespace ebb::cpu
