// Transposes of matrices by squares that fit the registers.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "kernel/cpu/tile.h"

namespace ebb::cpu {

// GCC says that a packet's attributes count for nothing in template arguments.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"

/// to[j * to_pitch + i] = from[i * from_pitch + j] for i < rows, j < columns. Moves bits, whatever they mean:
/// `from` may be an array of another type of the same bytes.
template <class T>
void transpose(const T* from, std::int64_t from_pitch, std::int64_t rows, std::int64_t columns, T* to,
               std::int64_t to_pitch) {
  namespace simd = Eigen::internal;
  constexpr int kSide = tiles::kWidth<T>;
  if (rows < kSide || columns < kSide) {
    for (std::int64_t j = 0; j < columns; ++j)
      for (std::int64_t i = 0; i < rows; ++i)
        std::memcpy(to + j * to_pitch + i, from + i * from_pitch + j, sizeof(T));
    return;
  }
  // The last squares overlap the ones before.
  for (std::int64_t j = 0; j < columns; j += kSide)
    for (std::int64_t i = 0; i < rows; i += kSide) {
      const std::int64_t row = std::min(i, rows - kSide), column = std::min(j, columns - kSide);
      const T* source = from + row * from_pitch + column;
      T* const target = to + column * to_pitch + row;
      simd::PacketBlock<tiles::Packet<T>, kSide> square;
      for (int k = 0; k < kSide; ++k)
        square.packet[k] = simd::ploadu<tiles::Packet<T>>(source + k * from_pitch);
      simd::ptranspose(square);
      for (int k = 0; k < kSide; ++k) simd::pstoreu(target + k * to_pitch, square.packet[k]);
    }
}

#pragma GCC diagnostic pop

}  // namespace ebb::cpu
