// Products of vectors and matrices whose rows are shorter than what a register holds, or hardly longer.
#pragma once

#include "kernel/cpu/tile.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace ebb::cpu {

// GCC says that a packet's attributes count for nothing in template arguments.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"

namespace short_rows {

namespace simd = Eigen::internal;

// 32 bytes, or less where registers are shorter: squares of wider packets cost more to turn than they hold.
template <class T>
using Packet = std::conditional_t<(sizeof(tiles::Packet<T>) > 32),
                                  typename simd::unpacket_traits<tiles::Packet<T>>::half, tiles::Packet<T>>;
template <class T>
constexpr int kSide = simd::unpacket_traits<Packet<T>>::size;

// Adds the product of `Columns` columns of kSide rows, read as a square that is turned in registers. What it
// reads behind those columns is not used, be it infinite.
template <int Columns, class T>
Packet<T> add_square(const T* a, std::int64_t row_stride, const T* x, Packet<T> sum) {
  simd::PacketBlock<Packet<T>, kSide<T>> square;
  for (int k = 0; k < kSide<T>; ++k) square.packet[k] = simd::ploadu<Packet<T>>(a + k * row_stride);
  simd::ptranspose(square);
  for (int k = 0; k < Columns; ++k) sum = simd::pmadd(square.packet[k], simd::pset1<Packet<T>>(x[k]), sum);
  return sum;
}

// The first rows, `Last` columns of which are left after whole squares.
template <int Last, class T>
void add(const T* a, std::int64_t row_stride, std::int64_t rows, std::int64_t squares, const T* x, T* y,
         T alpha) {
  for (std::int64_t i = 0; i < rows; i += kSide<T>) {
    const T* row = a + i * row_stride;
    Packet<T> sum = simd::pset1<Packet<T>>(T(0));
    for (std::int64_t s = 0; s < squares; ++s)
      sum = add_square<kSide<T>>(row + s * kSide<T>, row_stride, x + s * kSide<T>, sum);
    sum = add_square<Last>(row + squares * kSide<T>, row_stride, x + squares * kSide<T>, sum);
    simd::pstoreu(y + i, simd::pmadd(simd::pset1<Packet<T>>(alpha), sum, simd::ploadu<Packet<T>>(y + i)));
  }
}

}  // namespace short_rows

/// y += alpha a x for `rows` rows of at least one column each, `row_stride` >= `columns` apart.
template <class T>
void add_short_rows(const T* a, std::int64_t row_stride, std::int64_t rows, std::int64_t columns, const T* x,
                    T* y, T alpha) {
  constexpr int kSide = short_rows::kSide<T>;
  const std::int64_t squares = (columns - 1) / kSide, last = columns - squares * kSide;
  // A square reads behind its rows, which must not lead behind the last row of all.
  const std::int64_t behind = (kSide - last + row_stride - 1) / row_stride;
  const std::int64_t fast = std::max<std::int64_t>(rows - behind, 0) / kSide * kSide;
  [&]<int... Less>(std::integer_sequence<int, Less...>) {
    ((last == Less + 1 ? short_rows::add<Less + 1>(a, row_stride, fast, squares, x, y, alpha) : void()), ...);
  }(std::make_integer_sequence<int, kSide>());
  for (std::int64_t i = fast; i < rows; ++i) {
    T sum{};
    for (std::int64_t k = 0; k < columns; ++k) sum += a[i * row_stride + k] * x[k];
    y[i] += alpha * sum;
  }
}

#pragma GCC diagnostic pop

}  // namespace ebb::cpu
