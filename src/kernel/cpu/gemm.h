// Matrix products on the CPU.
#pragma once

#include <ebb/core/half.h>

#include <cstdint>
#include <utility>

namespace ebb::cpu {

/// A matrix under any strides: element (i, j) stands at data[i * row_stride + j * col_stride].
template <class T>
struct Matrix {
  T* data = nullptr;
  std::int64_t rows = 0;
  std::int64_t cols = 0;
  std::int64_t row_stride = 0;
  std::int64_t col_stride = 1;

  T& operator()(std::int64_t i, std::int64_t j) const { return data[i * row_stride + j * col_stride]; }
  Matrix t() const { return {data, cols, rows, col_stride, row_stride}; }
  Matrix block(std::int64_t i, std::int64_t j, std::int64_t height, std::int64_t width) const {
    return {&(*this)(i, j), height, width, row_stride, col_stride};
  }
  Matrix<const T> read() const { return {data, rows, cols, row_stride, col_stride}; }
};

/// c = beta * c + alpha * a b, for float and double. With beta 0, c may hold anything (NaN too) before; with
/// others the product is summed up first, and then added in one rounding. No element of a product is -0.
/// Transposed operands cost nothing. Large products are shared among threads in pieces that depend on the
/// shapes only, so that the result does not depend on the number of threads. Nor does a row's depend on how
/// many rows there are, if there are two and more, 8 columns and more, and 512 multiplications and more.
template <class T>
void gemm(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, T alpha, T beta);

/// The same for 16-bit floats T, in floats and rounded once, into a matrix of T or of floats. Where the
/// processor multiplies bfloat16 (AVX512-BF16, and AMX from a certain size on) and the mode is not
/// deterministic, it does so, with numbers too small to be normal taken for 0; else operands are widened as
/// the tiles need them, and a result is that of float but for the order of its sum. Which of these it is goes
/// by the sizes, so that a row may depend on how many there are.
template <class T, class Out>
void gemm_halves(Matrix<const T> a, Matrix<const T> b, Matrix<Out> c, float alpha, float beta);

/// The sum of x[i] y[i], rounded once, for all floating types.
template <class T>
T dot_strided(std::int64_t n, const T* x, std::int64_t x_stride, const T* y, std::int64_t y_stride);

extern template void gemm(Matrix<const float>, Matrix<const float>, Matrix<float>, float, float);
extern template void gemm(Matrix<const double>, Matrix<const double>, Matrix<double>, double, double);
extern template void gemm_halves(Matrix<const BFloat16>, Matrix<const BFloat16>, Matrix<BFloat16>, float,
                                 float);
extern template void gemm_halves(Matrix<const BFloat16>, Matrix<const BFloat16>, Matrix<float>, float, float);
extern template void gemm_halves(Matrix<const Half>, Matrix<const Half>, Matrix<Half>, float, float);
extern template void gemm_halves(Matrix<const Half>, Matrix<const Half>, Matrix<float>, float, float);
extern template float dot_strided(std::int64_t, const float*, std::int64_t, const float*, std::int64_t);
extern template double dot_strided(std::int64_t, const double*, std::int64_t, const double*, std::int64_t);
extern template Half dot_strided(std::int64_t, const Half*, std::int64_t, const Half*, std::int64_t);
extern template BFloat16 dot_strided(std::int64_t, const BFloat16*, std::int64_t, const BFloat16*,
                                     std::int64_t);

/// The same by plain loops, for any type; sums in Sum.
template <class Sum, class T, class Out>
void gemm_loops(Matrix<const T> a, Matrix<const T> b, Matrix<Out> c, Sum alpha, Sum beta) {
  for (std::int64_t i = 0; i < c.rows; ++i)
    for (std::int64_t j = 0; j < c.cols; ++j) {
      Sum sum{};
      for (std::int64_t k = 0; k < a.cols; ++k) sum += static_cast<Sum>(a(i, k)) * static_cast<Sum>(b(k, j));
      Out& out = c(i, j);
      out =
          static_cast<Out>(beta == Sum{} ? Sum{} + alpha * sum : alpha * sum + beta * static_cast<Sum>(out));
    }
}

}  // namespace ebb::cpu
