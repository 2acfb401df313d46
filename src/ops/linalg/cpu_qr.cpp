// QR factorisations and triangular systems on the CPU. QR factors panels with Householder reflections and
// then updates the remaining columns with matrix products (compact WY form, Schreiber and Van Loan 1989).
// Triangular systems are solved by substitution in diagonal blocks; after each block the remaining rows are
// updated with matrix products.
#include <ebb/core/visit.h>

#include "ops/linalg/cpu_batch.h"
#include "ops/linalg/decomposition_kernels.h"
#include "ops/linalg/math_decomposition.h"

#include <cmath>
#include <vector>

namespace ebb::cpu {
namespace {

using decomposition::Reflection;
constexpr std::int64_t kPanel = 32;

// Returns the norm of the column below row j, without overflow.
template <class T>
T norm_below(Matrix<const T> a, std::int64_t j) {
  T most = 0, sum = 0;
  for (std::int64_t i = j + 1; i < a.rows; ++i) most = std::max(most, std::abs(a(i, j)));
  if (most == T(0)) return most;
  for (std::int64_t i = j + 1; i < a.rows; ++i) sum += (a(i, j) / most) * (a(i, j) / most);
  return most * std::sqrt(sum);
}

// The product of a panel's reflections, I - V T V^T. The rows of V begin at the panel's first row.
template <class T>
class Block {
 public:
  Block(Matrix<const T> a, const T* tau, std::int64_t start, std::int64_t size)
      : size_(size),
        rows_(a.rows - start),
        v_(static_cast<std::size_t>(rows_ * size), T(0)),
        t_(static_cast<std::size_t>(size * size), T(0)) {
    const Matrix<T> v = vectors(), t = factor();
    for (std::int64_t i = 0; i < rows_; ++i)
      for (std::int64_t j = 0; j < std::min(i, size); ++j) v(i, j) = a(start + i, start + j);
    for (std::int64_t j = 0; j < size; ++j) v(j, j) = 1;
    std::vector<T> products(static_cast<std::size_t>(size * size));
    const Matrix<T> p{products.data(), size, size, size, 1};
    gemm<T>(v.read().t(), v.read(), p, T(1), T(0));
    for (std::int64_t j = 0; j < size; ++j) {
      t(j, j) = tau[start + j];
      for (std::int64_t i = 0; i < j; ++i)
        for (std::int64_t l = i; l < j; ++l) t(i, j) -= t(j, j) * t(i, l) * p(l, j);
    }
  }
  /// Multiplies c from the left by the block's product of reflections, or by its transpose.
  void apply(Matrix<T> c, bool transposed) {
    work_.resize(static_cast<std::size_t>(2 * size_ * c.cols));
    const Matrix<T> w{work_.data(), size_, c.cols, c.cols, 1},
        y{w.data + size_ * c.cols, size_, c.cols, c.cols, 1};
    const Matrix<const T> v = vectors().read(), t = factor().read();
    gemm<T>(v.t(), c.read(), w, T(1), T(0));
    gemm<T>(transposed ? t.t() : t, w.read(), y, T(1), T(0));
    gemm<T>(v, y.read(), c, T(-1), T(1));
  }

 private:
  Matrix<T> vectors() { return {v_.data(), rows_, size_, size_, 1}; }
  Matrix<T> factor() { return {t_.data(), size_, size_, size_, 1}; }
  std::int64_t size_, rows_;
  std::vector<T> v_, t_, work_;
};

template <class T>
void factor_qr(Matrix<T> a, T* tau) {
  const std::int64_t m = a.rows, n = a.cols, k = std::min(m, n);
  std::vector<T> sums(static_cast<std::size_t>(kPanel));
  for (std::int64_t start = 0; start < k; start += kPanel) {
    const std::int64_t end = std::min(start + kPanel, k);
    for (std::int64_t j = start; j < end; ++j) {
      const Reflection<T> h(a(j, j), norm_below<T>(a.read(), j));
      a(j, j) = h.beta;
      tau[j] = h.tau;
      for (std::int64_t i = j + 1; i < m; ++i) a(i, j) /= h.scale;
      const std::int64_t rest = end - j - 1;
      if (rest == 0) continue;
      std::copy_n(&a(j, j) + 1, rest, sums.data());
      for (std::int64_t i = j + 1; i < m; ++i)
        add_multiple(rest, a(i, j), static_cast<const T*>(&a(i, j)) + 1, sums.data());
      add_multiple(rest, -h.tau, static_cast<const T*>(sums.data()), &a(j, j) + 1);
      for (std::int64_t i = j + 1; i < m; ++i)
        add_multiple(rest, -h.tau * a(i, j), static_cast<const T*>(sums.data()), &a(i, j) + 1);
    }
    if (end < n)
      Block<T>(a.read(), tau, start, end - start).apply(a.block(start, end, m - start, n - end), true);
  }
}

template <class T>
void form_q(Matrix<T> q, Matrix<const T> a, const T* tau, std::int64_t k) {
  for (std::int64_t i = 0; i < q.rows; ++i)
    for (std::int64_t j = 0; j < q.cols; ++j) q(i, j) = i == j ? T(1) : T(0);
  for (std::int64_t panel = (k + kPanel - 1) / kPanel; panel-- > 0;) {
    const std::int64_t start = panel * kPanel, size = std::min(kPanel, k - start);
    Block<T>(a, tau, start, size).apply(q.block(start, start, q.rows - start, q.cols - start), false);
  }
}

constexpr std::int64_t kBlock = 64;

// Solves a x = b in place, row by row. It begins at the last row if `upper`, otherwise at the first row.
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

void qr(NdArray& a, NdArray& tau) {
  visit_float_double(a.dtype(), "linalg.qr", [&]<class T> {
    const Batch<T> x(a);
    const std::int64_t k = std::min(x.rows, x.cols);
    for_matrices(x.count, 2 * x.rows * x.cols * k,
                 [&](std::int64_t i) { factor_qr<T>(matrix_of(x, i), tau.address_as<T>() + i * k); });
  });
}

void householder_q(NdArray& q, const NdArray& a, const NdArray& tau) {
  visit_float_double(q.dtype(), "linalg.qr", [&]<class T> {
    const Batch<T> out(q), x(a), factors(tau, 1);
    for_matrices(out.count, 2 * out.rows * out.cols * factors.cols, [&](std::int64_t i) {
      form_q<T>(matrix_of(out, i), matrix_of(x, i).read(), factors.data + i * factors.cols, factors.cols);
    });
  });
}

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
