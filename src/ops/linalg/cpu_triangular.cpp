// Triangular systems on the CPU: diagonal blocks by substitution, the remainder by matrix products.
#include <ebb/core/visit.h>

#include "ops/linalg/cpu_batch.h"
#include "ops/linalg/decomposition_kernels.h"

namespace ebb::cpu {
namespace {

constexpr std::int64_t kBlock = 64;

// Substitutes row by row, from the first row (lower) or the last one (upper).
template <class T>
void substitute(Matrix<const T> a, Matrix<T> x, bool upper, bool unit) {
  const std::int64_t n = a.rows;
  for (std::int64_t step = 0; step < n; ++step) {
    const std::int64_t i = upper ? n - 1 - step : step;
    T* const row = &x(i, 0);
    for (std::int64_t k = upper ? i + 1 : 0; k < (upper ? n : i); ++k)
      add_multiple(x.cols, -a(i, k), static_cast<const T*>(&x(k, 0)), row);
    if (unit) continue;
    const T divisor = a(i, i);
    for (std::int64_t j = 0; j < x.cols; ++j) row[j] /= divisor;
  }
}

}  // namespace

template <class T>
void solve_triangle(Matrix<const T> a, Matrix<T> x, bool upper, bool unit) {
  const std::int64_t n = a.rows, blocks = (n + kBlock - 1) / kBlock;
  if (x.cols == 0) return;
  for (std::int64_t step = 0; step < blocks; ++step) {
    const std::int64_t at = (upper ? blocks - 1 - step : step) * kBlock, size = std::min(kBlock, n - at);
    substitute(a.block(at, at, size, size), x.block(at, 0, size, x.cols), upper, unit);
    const std::int64_t from = upper ? 0 : at + size, rest = upper ? at : n - from;
    if (rest > 0)
      gemm<T>(a.block(from, at, rest, size), x.block(at, 0, size, x.cols).read(),
              x.block(from, 0, rest, x.cols), T(-1), T(1));
  }
}

template void solve_triangle(Matrix<const float>, Matrix<float>, bool, bool);
template void solve_triangle(Matrix<const double>, Matrix<double>, bool, bool);

void triangular_solve(NdArray& x, const NdArray& a, const TriangularArgs& args) {
  visit_float_double(x.dtype(), "linalg.solve_triangular", [&]<class T> {
    const Batch<T> right(x), left(a);
    for_matrices(right.count, left.rows * left.rows * right.cols, [&](std::int64_t i) {
      const Matrix<const T> factor = matrix_of(left, i).read();
      solve_triangle<T>(args.transposed ? factor.t() : factor, matrix_of(right, i),
                        args.upper != args.transposed, args.unit_diagonal);
    });
  });
}

}  // namespace ebb::cpu
