// Matrix transposes, in squares that fit the registers.
#pragma once

#include "kernel/cpu/tile.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace ebb::cpu {

// GCC warns that it ignores a packet's attributes in template arguments.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"

/// to[j * to_pitch + i] = from[i * from_pitch + j] for i < rows, j < columns. It only moves bits, so `from`
/// may contain another type of the same size.
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
  // If the size is not a multiple of kSide, the last squares overlap the previous squares.
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

namespace detail {

typedef std::uint16_t EightHalves __attribute__((vector_size(16)));

// Transposes a square of 8 x 8 elements by interleaving rows i and i + 4 three times.
inline void transpose_eight(const std::uint16_t* from, std::int64_t from_pitch, std::uint16_t* to,
                            std::int64_t to_pitch) {
  EightHalves rows[8], mixed[8];
  for (int i = 0; i < 8; ++i) std::memcpy(&rows[i], from + i * from_pitch, sizeof rows[i]);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 4; ++i) {
      mixed[2 * i] = __builtin_shufflevector(rows[i], rows[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
      mixed[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
    for (int i = 0; i < 8; ++i) rows[i] = mixed[i];
  }
  for (int i = 0; i < 8; ++i) std::memcpy(to + i * to_pitch, &rows[i], sizeof rows[i]);
}

}  // namespace detail

/// to[j * to_pitch + i] = from[i * from_pitch + j] for i < rows, j < columns.
inline void transpose(const std::uint16_t* from, std::int64_t from_pitch, std::int64_t rows,
                      std::int64_t columns, std::uint16_t* to, std::int64_t to_pitch) {
  const std::int64_t whole_rows = rows / 8 * 8, whole_columns = columns / 8 * 8;
  for (std::int64_t j = 0; j < whole_columns; j += 8)
    for (std::int64_t i = 0; i < whole_rows; i += 8)
      detail::transpose_eight(from + i * from_pitch + j, from_pitch, to + j * to_pitch + i, to_pitch);
  for (std::int64_t j = 0; j < columns; ++j)
    for (std::int64_t i = j < whole_columns ? whole_rows : 0; i < rows; ++i)
      to[j * to_pitch + i] = from[i * from_pitch + j];
}

}  // namespace ebb::cpu
