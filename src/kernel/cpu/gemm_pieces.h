// Parts of the CPU matrix products: operands in a layout that the kernels can read (Readable), the division
// into chunks (PieceSize), and matrix-vector products with short rows (add_short_rows).
#pragma once

#include <ebb/core/parallel.h>

#include "kernel/cpu/gemm.h"
#include "kernel/cpu/scratch.h"
#include "kernel/cpu/tile.h"
#include "kernel/cpu/vector.h"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <utility>

namespace ebb::cpu {

/// Products with fewer multiplications use plain loops, because packing would take longer.
constexpr std::int64_t kTiny = 300;

/// Returns whether the rows are contiguous and do not overlap.
template <class T>
bool by_rows(const Matrix<T>& m) {
  return (m.col_stride == 1 || m.cols == 1) && (m.rows <= 1 || m.row_stride >= m.cols);
}
template <class T>
bool by_cols(const Matrix<T>& m) {
  return by_rows(m.t());
}

/// A matrix whose rows or columns are contiguous. It refers to the given matrix, or to a copy if neither its
/// rows nor its columns are contiguous (strided slices, broadcast matrices).
template <class T>
class Readable {
 public:
  explicit Readable(Matrix<const T>& m) {
    if (by_rows(m) || by_cols(m)) return;
    copy_ = Scratch<T>(m.rows * m.cols);
    for (std::int64_t i = 0; i < m.rows; ++i)
      for (std::int64_t j = 0; j < m.cols; ++j) copy_[i * m.cols + j] = m(i, j);
    m = {copy_.get(), m.rows, m.cols, m.cols, 1};
  }

 private:
  Scratch<T> copy_;
};

// The second-level cache has 256 or 512 KiB on processors without AVX-512, and mostly 1 MiB on processors
// with AVX-512.
constexpr bool kLargeCaches = kVectorBytes == 64;
/// The number of rows of the left operand that fit the second-level cache. Each row has as many elements as
/// one part of a sum (part_of()).
constexpr std::int64_t kBlockRows = kLargeCaches ? 512 : 240;

/// The size of the chunks of a product. The operands of a chunk fit the cache, and there are enough chunks
/// for all threads. The sum of an element of c, including its order, does not depend on the chunks.
struct PieceSize {
  std::int64_t height, width;  // multiples of `rows` and `panel`; the height has at most `blocks` blocks
  PieceSize(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t panel, std::int64_t rows,
            std::int64_t blocks = 1) {
    constexpr std::int64_t kPanels = kLargeCaches ? 8 : 32, kLeast = std::int64_t{1} << 20;
    height = even(m, (m + blocks * kBlockRows - 1) / (blocks * kBlockRows), rows);
    width = even(n, (n + kPanels * panel - 1) / (kPanels * panel), panel);
    const std::int64_t threads = get_num_threads();
    while (threads > 1 && m * n < 4 * threads * height * width && height * width * k > kLeast) {
      if (height > width && height > 2 * rows)
        height = even(height, 2, rows);
      else if (width > panel)
        width = even(width, 2, panel);
      else
        break;
    }
  }
  // Returns the size of `parts` equal parts of n, rounded up to a multiple of `step`.
  static std::int64_t even(std::int64_t n, std::int64_t parts, std::int64_t step) {
    return ((n + parts - 1) / parts + step - 1) / step * step;
  }
};

// GCC warns that it ignores a packet's attributes in template arguments.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wignored-attributes"

namespace short_rows {

namespace simd = Eigen::internal;

// Packets of at most 32 bytes, because the transposition of squares of wider packets would cost more than it
// saves.
template <class T>
using Packet = std::conditional_t<(sizeof(tiles::Packet<T>) > 32),
                                  typename simd::unpacket_traits<tiles::Packet<T>>::half, tiles::Packet<T>>;
template <class T>
constexpr int kSide = simd::unpacket_traits<Packet<T>>::size;

// Adds the product of `Columns` columns of kSide rows. It reads a square of kSide columns and transposes it
// in registers. Elements after the `Columns` columns are read but not used, so they may be infinite.
template <int Columns, class T>
Packet<T> add_square(const T* a, std::int64_t row_stride, const T* x, Packet<T> sum) {
  simd::PacketBlock<Packet<T>, kSide<T>> square;
  for (int k = 0; k < kSide<T>; ++k) square.packet[k] = simd::ploadu<Packet<T>>(a + k * row_stride);
  simd::ptranspose(square);
  for (int k = 0; k < Columns; ++k) sum = simd::pmadd(square.packet[k], simd::pset1<Packet<T>>(x[k]), sum);
  return sum;
}

// Computes y for `rows` rows, a multiple of kSide. A row consists of `squares` squares and `Last` further
// columns.
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

/// y += alpha a x for `rows` rows of at least one column. The rows are `row_stride` >= `columns` apart.
template <class T>
void add_short_rows(const T* a, std::int64_t row_stride, std::int64_t rows, std::int64_t columns, const T* x,
                    T* y, T alpha) {
  constexpr int kSide = short_rows::kSide<T>;
  const std::int64_t squares = (columns - 1) / kSide, last = columns - squares * kSide;
  // The last square of a row reads beyond the end of the row. It must not read beyond the end of the last
  // row, so the last `behind` rows are computed element by element.
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
