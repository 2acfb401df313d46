// Matrix products on the CPU, by Eigen, shared among threads.
#include "kernel/cpu/gemm.h"

#include "core/parallel_for.h"

#include <Eigen/Core>
#include <algorithm>
#include <memory>

namespace ebb::cpu {
namespace {

template <class T, int Order>
using View =
    Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Order>, 0, Eigen::OuterStride<>>;
template <class T>
using Vector = Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, 1>>;
template <class T>
using ConstVector = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, 1>>;

// Products below this many multiplications run in plain loops: setting Eigen's blocking up costs more.
constexpr std::int64_t kTiny = 300;
// Pieces of a shared product, in multiplications; and of a shared matrix-vector product.
constexpr std::int64_t kPiece = std::int64_t{1} << 22;
constexpr std::int64_t kVectorPiece = std::int64_t{1} << 17;
constexpr std::int64_t kMaxPieces = 256;
// Products that Eigen adds up at a time, or up to half more: the error of a sum grows with the root of its
// length.
constexpr std::int64_t kDepth = 256;

// Rows lie one after another, each contiguous.
template <class T>
bool by_rows(const Matrix<T>& m) {
  return (m.col_stride == 1 || m.cols == 1) && (m.rows <= 1 || m.row_stride >= m.cols);
}
template <class T>
bool by_cols(const Matrix<T>& m) {
  return by_rows(m.t());
}
template <class T>
Eigen::OuterStride<> row_step(const Matrix<T>& m) {
  return Eigen::OuterStride<>(m.rows <= 1 ? m.cols : m.row_stride);
}

// A matrix that Eigen can read: itself, or a copy where both strides are at odds with a matrix (steps,
// broadcasts).
template <class T>
class Readable {
 public:
  explicit Readable(Matrix<const T>& m) {
    if (by_rows(m) || by_cols(m)) return;
    copy_ = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(m.rows * m.cols));
    for (std::int64_t i = 0; i < m.rows; ++i)
      for (std::int64_t j = 0; j < m.cols; ++j) copy_[i * m.cols + j] = m(i, j);
    m = {copy_.get(), m.rows, m.cols, m.cols, 1};
  }

 private:
  std::unique_ptr<T[]> copy_;
};

template <class T>
void scale(Matrix<T> c, T beta) {
  if (beta == T(1)) return;
  for (std::int64_t i = 0; i < c.rows; ++i)
    for (std::int64_t j = 0; j < c.cols; ++j) c(i, j) = beta == T(0) ? T(0) : beta * c(i, j);
}

template <class T, int OrderA, int OrderB>
void product(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, T alpha) {
  Eigen::Map<Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>, 0, Eigen::OuterStride<>> out(
      c.data, c.rows, c.cols, row_step(c));
  const View<T, OrderA> x(a.data, a.rows, a.cols, row_step(OrderA == Eigen::RowMajor ? a : a.t()));
  const View<T, OrderB> y(b.data, b.rows, b.cols, row_step(OrderB == Eigen::RowMajor ? b : b.t()));
  out.noalias() += alpha * x * y;
}

// One piece, on this thread. c is by rows, a and b are readable.
template <class T>
void piece(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, T alpha, T beta) {
  constexpr int kRow = Eigen::RowMajor, kCol = Eigen::ColMajor;
  scale(c, beta);
  const auto add = by_rows(a) ? (by_rows(b) ? product<T, kRow, kRow> : product<T, kRow, kCol>)
                              : (by_rows(b) ? product<T, kCol, kRow> : product<T, kCol, kCol>);
  const std::int64_t parts = std::max<std::int64_t>((a.cols + kDepth / 2) / kDepth, 1);
  const std::int64_t part = (a.cols + parts - 1) / parts;
  for (std::int64_t k = 0; k < a.cols; k += part) {
    const std::int64_t depth = std::min(part, a.cols - k);
    add(a.block(0, k, a.rows, depth), b.block(k, 0, depth, b.cols), c, alpha);
  }
}

// y = beta * y + alpha * a x; y and x are contiguous, a is readable.
template <class T>
void matrix_vector(Matrix<const T> a, const T* x, T* y, T alpha, T beta) {
  const std::int64_t rows = std::max<std::int64_t>(kVectorPiece / std::max<std::int64_t>(a.cols, 1), 16);
  parallel_for(0, (a.rows + rows - 1) / rows, 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t p = from; p < to; ++p) {
      const std::int64_t first = p * rows, count = std::min(rows, a.rows - first);
      Vector<T> out(y + first, count);
      const ConstVector<T> in(x, a.cols);
      scale<T>({y + first, count, 1, 1, 1}, beta);
      const Matrix<const T> part = a.block(first, 0, count, a.cols);
      if (by_rows(part))
        out.noalias() += alpha * (View<T, Eigen::RowMajor>(part.data, count, a.cols, row_step(part)) * in);
      else
        out.noalias() +=
            alpha * (View<T, Eigen::ColMajor>(part.data, count, a.cols, row_step(part.t())) * in);
    }
  });
}

// Halves the longer side of c until the pieces are small enough, and keeps them multiples of the register
// tiles.
struct Cut {
  std::int64_t height, width;
  Cut(std::int64_t m, std::int64_t n, std::int64_t k) : height(m), width(n) {
    const std::int64_t target = std::max(kPiece, m * n * k / kMaxPieces);
    while (height * width * k > target && std::max(height, width) > 48)
      (height > width ? height : width) = ((height > width ? height : width) / 2 + 15) / 16 * 16;
  }
};

}  // namespace

template <class T>
void gemm(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, T alpha, T beta) {
  const std::int64_t m = c.rows, n = c.cols, k = a.cols;
  if (m == 0 || n == 0) return;
  if (k == 0 || alpha == T(0)) return scale(c, beta);
  if (m * n * k <= kTiny) return gemm_loops<T>(a, b, c, alpha, beta);
  if (!by_rows(c)) {
    if (by_cols(c)) return gemm<T>(b.t(), a.t(), c.t(), alpha, beta);
    const auto copy = std::make_unique_for_overwrite<T[]>(static_cast<std::size_t>(m * n));
    const Matrix<T> dense{copy.get(), m, n, n, 1};
    gemm<T>(a, b, dense, alpha, T(0));
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j)
        c(i, j) = beta == T(0) ? dense(i, j) : dense(i, j) + beta * c(i, j);
    return;
  }
  const Readable<T> keep_a(a), keep_b(b);
  if (n == 1 && (c.row_stride == 1 || m == 1) && by_cols(b))
    return matrix_vector(a, b.data, c.data, alpha, beta);
  if (m == 1 && by_rows(a)) return matrix_vector(b.t(), a.data, c.data, alpha, beta);
  const Cut cut(m, n, k);
  const std::int64_t down = (m + cut.height - 1) / cut.height, across = (n + cut.width - 1) / cut.width;
  parallel_for(0, down * across, 1, [&](std::int64_t from, std::int64_t to) {
    for (std::int64_t p = from; p < to; ++p) {
      const std::int64_t i = p / across * cut.height, j = p % across * cut.width;
      const std::int64_t height = std::min(cut.height, m - i), width = std::min(cut.width, n - j);
      piece<T>(a.block(i, 0, height, k), b.block(0, j, k, width), c.block(i, j, height, width), alpha, beta);
    }
  });
}

template <class T>
T dot_strided(std::int64_t n, const T* x, std::int64_t x_stride, const T* y, std::int64_t y_stride) {
  if (x_stride == 1 && y_stride == 1) return ConstVector<T>(x, n).dot(ConstVector<T>(y, n));
  T sum{};
  for (std::int64_t i = 0; i < n; ++i) sum += x[i * x_stride] * y[i * y_stride];
  return sum;
}

template void gemm(Matrix<const float>, Matrix<const float>, Matrix<float>, float, float);
template void gemm(Matrix<const double>, Matrix<const double>, Matrix<double>, double, double);
template float dot_strided(std::int64_t, const float*, std::int64_t, const float*, std::int64_t);
template double dot_strided(std::int64_t, const double*, std::int64_t, const double*, std::int64_t);

}  // namespace ebb::cpu
