// Long sums in parts.
#pragma once

#include <ebb/core/ndarray.h>

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace ebb::cpu {

/// Sums are added up in parts of about Length products, and then the parts: the error of a sum grows with the
/// root of its length, and so does that of the parts' sum, but both are short.
template <std::int64_t Length>
constexpr std::int64_t part_of(std::int64_t products) {
  if (products < Length + Length / 2) return products;
  const std::int64_t parts = (products + Length / 2) / Length;
  return (products + parts - 1) / parts;
}

/// How many products a float adds up by itself: beyond that equal terms, which are all rounded to one side,
/// would drift. Tiles add them in parts, vectors in a few lanes, columns one after the other.
constexpr std::int64_t kTileRun = 16384, kVectorRun = 4096, kColumnRun = 512;

/// sums[i] = `count` sums side by side, of `length` products each. `run(from, size, sums)` makes those of the
/// products that begin at `from`. Floats of one run after the other are added up in doubles.
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
