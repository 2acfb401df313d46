// Helpers that the CPU matrix products share: the layouts that they read, and the division into pieces.
#pragma once

#include <ebb/core/parallel.h>

#include "kernel/cpu/gemm.h"
#include "kernel/cpu/scratch.h"
#include "kernel/cpu/vector.h"

namespace ebb::cpu {

/// Products below this number of multiplications use plain loops, because packing costs more.
constexpr std::int64_t kTiny = 300;

/// Whether the rows are contiguous and do not overlap.
template <class T>
bool by_rows(const Matrix<T>& m) {
  return (m.col_stride == 1 || m.cols == 1) && (m.rows <= 1 || m.row_stride >= m.cols);
}
template <class T>
bool by_cols(const Matrix<T>& m) {
  return by_rows(m.t());
}

/// A matrix whose rows or columns are contiguous. It is the matrix itself, or a copy if neither of its
/// strides is 1 (with steps or broadcasts).
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

// The second-level cache has 256 or 512 KiB on processors without AVX-512, and mostly 1 MiB on those with it.
constexpr bool kLargeCaches = kVectorBytes == 64;
/// The number of rows, each as long as a part of a sum, that fit the second-level cache.
constexpr std::int64_t kBlockRows = kLargeCaches ? 512 : 240;

/// The size of the pieces: small enough for their operands to fit the cache, and enough pieces for all
/// threads. The sum of an element of c, including its order, does not depend on the pieces.
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

}  // namespace ebb::cpu
