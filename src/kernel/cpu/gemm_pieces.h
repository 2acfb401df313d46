// What products of matrices share on the CPU: which layouts they read, and how large ones are cut.
#pragma once

#include <ebb/core/parallel.h>

#include "kernel/cpu/gemm.h"
#include "kernel/cpu/scratch.h"
#include "kernel/cpu/vector.h"

namespace ebb::cpu {

/// Products below this many multiplications run in plain loops: packing costs more.
constexpr std::int64_t kTiny = 300;

/// Rows lie one after another, each contiguous.
template <class T>
bool by_rows(const Matrix<T>& m) {
  return (m.col_stride == 1 || m.cols == 1) && (m.rows <= 1 || m.row_stride >= m.cols);
}
template <class T>
bool by_cols(const Matrix<T>& m) {
  return by_rows(m.t());
}

/// A matrix whose rows or columns are contiguous: itself, or a copy where both strides are at odds with a
/// matrix (steps, broadcasts).
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

// Processors without AVX-512 have second-level caches of 256 or 512 KiB, those with it mostly of 1 MiB.
constexpr bool kLargeCaches = kVectorBytes == 64;
/// Rows of a matrix that stay in a second-level cache, a part of a sum long.
constexpr std::int64_t kBlockRows = kLargeCaches ? 512 : 240;

/// Pieces whose operands stay in the cache, and enough of them for all threads. What an element of c adds up,
/// and in which order, does not depend on them.
struct Cut {
  std::int64_t height, width;  // multiples of `rows` and `panel`; of height up to `blocks` blocks
  Cut(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t panel, std::int64_t rows,
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
  // n in so many parts, each a multiple of `step`.
  static std::int64_t even(std::int64_t n, std::int64_t parts, std::int64_t step) {
    return ((n + parts - 1) / parts + step - 1) / step * step;
  }
};

}  // namespace ebb::cpu
