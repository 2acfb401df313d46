// Long sums in parts.
#pragma once

#include <cstdint>

namespace ebb::cpu {

/// Sums are added up in parts of about Length products, and then the parts: the error of a sum grows with the
/// root of its length, and so does that of the parts' sum, but both are short.
template <std::int64_t Length>
constexpr std::int64_t part_of(std::int64_t products) {
  if (products < Length + Length / 2) return products;
  const std::int64_t parts = (products + Length / 2) / Length;
  return (products + parts - 1) / parts;
}

}  // namespace ebb::cpu
