// Matrix products (GEMM) on the CPU.
#pragma once

#include <ebb/core/half.h>

#include <cstdint>
#include <utility>

namespace ebb::cpu {

/// A matrix with any strides: element (i, j) is data[i * row_stride + j * col_stride].
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

/// c = beta * c + alpha * a b, for float and double. If beta is 0, the previous content of c is ignored, even
/// NaN. Otherwise the product is summed completely and then added to beta * c with one rounding. No element
/// of a product is -0. Transposed operands are not slower. Large products run in parallel. The order of each
/// sum depends only on the shapes, so the result does not depend on the number of threads. A row's result is
/// also independent of the number of rows if there are at least 2 rows, 8 columns and 512 multiplications.
template <class T>
void gemm(Matrix<const T> a, Matrix<const T> b, Matrix<T> c, T alpha, T beta);

/// c = beta * c + alpha * a b for 16-bit floats T, summed in float and rounded once to Out, which is T or
/// float. Unless the mode is deterministic, bfloat16 uses the processor's instructions if it has them
/// (AVX512-BF16, and AMX for large sizes). These instructions treat subnormal numbers as 0. Otherwise
/// operands are widened for each tile, and the result differs from a product in float only in the order of
/// the sum. The choice depends on the sizes, so a row's result may depend on the number of rows.
template <class T, class Out>
void gemm_halves(Matrix<const T> a, Matrix<const T> b, Matrix<Out> c, float alpha, float beta);

/// Returns the sum of x[i] y[i], rounded once, for all floating types.
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

/// c = beta * c + alpha * a b with plain loops, for any type. The sums have type Sum.
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
