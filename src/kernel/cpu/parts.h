// The length of the parts of long sums (part_of), and the addition of runs in double (sum_by_runs).
#pragma once

#include <ebb/core/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace ebb::cpu {

/// Returns the number of products in each part of a sum, about Length. The error of a sum grows with the
/// square root of its length. Two short sums (within a part, and over the parts) therefore have a smaller
/// error than one long sum.
template <std::int64_t Length>
constexpr std::int64_t part_of(std::int64_t products) {
  if (products < Length + Length / 2) return products;
  const std::int64_t parts = (products + Length / 2) / Length;
  return (products + parts - 1) / parts;
}

/// The largest number of products that one float accumulator sums, for matrix tiles, for vector lanes and for
/// single columns. In longer sums of equal terms, all additions may round in the same direction, and the
/// error would grow in proportion to the length.
constexpr std::int64_t kTileRun = 16384, kVectorRun = 4096, kColumnRun = 512;

/// Computes `count` sums of `length` products each. `run(from, size, sums)` computes the sums of the products
/// [from, from + size). If T is float, the sums of successive runs are added in double.
template <class T, class Body>
void sum_by_runs(std::int64_t longest, std::int64_t length, T* sums, std::int64_t count, Body&& run) {
  if (!std::is_same_v<T, float> || length <= longest) return run(0, length, sums);
  const NdArray scratch = NdArray::empty({count}, kDouble);
  double* const wide = scratch.address_as<double>();
  std::fill_n(wide, count, 0.0);
  for (std::int64_t from = 0; from < length; from += longest) {
    run(from, std::min(longest, length - from), sums);
    for (std::int64_t i = 0; i < count; ++i) wide[i] += sums[i];
  }
  for (std::int64_t i = 0; i < count; ++i) sums[i] = static_cast<T>(wide[i]);
}

}  // namespace ebb::cpu
