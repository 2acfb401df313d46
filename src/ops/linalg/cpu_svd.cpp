// Singular values on the CPU. First the rows are multiplied by the eigenvectors of their Gram matrix, which
// makes them almost orthogonal (Drmac and Veselic 2008 precondition in a similar way). Then one-sided Jacobi
// rotations make the rows orthogonal, and a QR factorisation makes them orthonormal.
#include <ebb/core/visit.h>

#include "ops/linalg/cpu_batch.h"
#include "ops/linalg/decomposition_kernels.h"
#include "ops/linalg/math_decomposition.h"

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace ebb::cpu {
namespace {

using decomposition::Rotation;
constexpr int kSweeps = 40;

template <class T>
T dot(const T* x, const T* y, std::int64_t n) {
  return dot_strided<T>(n, x, 1, y, 1);
}

// Rotates pairs of rows until the vectors of their first `length` elements are orthogonal. Returns false if
// the rotations do not converge.
template <class T>
bool orthogonalize(Matrix<T> z, std::int64_t length) {
  const T epsilon = std::numeric_limits<T>::epsilon();
  const T relative = epsilon * std::max(T(10), 2 * std::sqrt(static_cast<T>(length)));
  for (int sweep = 0; sweep < kSweeps; ++sweep) {
    T most = 0;
    for (std::int64_t p = 0; p < z.rows; ++p) most = std::max(most, dot<T>(&z(p, 0), &z(p, 0), length));
    const T negligible = epsilon * std::sqrt(most);
    bool rotated = false;
    for (std::int64_t p = 0; p < z.rows; ++p)
      for (std::int64_t q = p + 1; q < z.rows; ++q) {
        T *const x = &z(p, 0), *const y = &z(q, 0);
        const T a = dot<T>(x, x, length), b = dot<T>(y, y, length), g = dot<T>(x, y, length);
        if (!decomposition::worth_rotating(a, b, g, relative, negligible)) continue;
        rotated = true;
        const Rotation<T> r(a, b, g);
        for (std::int64_t i = 0; i < z.cols; ++i) {
          const T u = x[i], v = y[i];
          x[i] = r.c * u - r.s * v;
          y[i] = r.s * u + r.c * v;
        }
      }
    if (!rotated) return true;
  }
  return false;
}

// Processes one matrix. Writes the lengths of the rotated rows in descending order to `values`, the rows in
// this order to the columns of `columns`, and the rotations to `right`.
template <class T>
std::int32_t rotate(Matrix<const T> rows, T* values, Matrix<T> columns, Matrix<T> right) {
  const std::int64_t k = rows.rows, length = rows.cols, width = length + k;
  T scale = 0;
  bool finite = true;
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < length; ++j) {
      finite = finite && std::isfinite(rows(i, j));
      scale = std::max(scale, std::abs(rows(i, j)));
    }
  if (scale == T(0)) scale = 1;
  NdArray gram = NdArray::empty({k, k}, dtype_of<T>()), squares = NdArray::empty({k}, dtype_of<T>()),
          info = NdArray::empty({}, kInt);
  std::vector<T> buffer(static_cast<std::size_t>(k * (width + length)));
  const Matrix<T> z{buffer.data(), k, width, width, 1}, scaled{z.data + k * width, k, length, length, 1};
  const Matrix<T> g{gram.address_as<T>(), k, k, k, 1};
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < length; ++j) scaled(i, j) = rows(i, j) / scale;
  gemm<T>(scaled.read(), scaled.read().t(), g, T(1), T(0));
  eigh(gram, squares, info);
  gemm<T>(g.read().t(), scaled.read(), z.block(0, 0, k, length), T(1), T(0));
  for (std::int64_t i = 0; i < k; ++i)
    for (std::int64_t j = 0; j < k; ++j) z(i, length + j) = g(j, i);
  const bool done = finite && orthogonalize<T>(z, length);
  std::vector<T> lengths(static_cast<std::size_t>(k));
  for (std::int64_t i = 0; i < k; ++i)
    lengths[static_cast<std::size_t>(i)] = std::sqrt(dot<T>(&z(i, 0), &z(i, 0), length));
  std::vector<std::size_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (done)
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t x, std::size_t y) { return lengths[x] > lengths[y]; });
  for (std::int64_t i = 0; i < k; ++i) {
    const std::size_t from = order[static_cast<std::size_t>(i)];
    const T* const row = &z(static_cast<std::int64_t>(from), 0);
    values[i] = lengths[from] * scale;
    for (std::int64_t j = 0; j < length; ++j) columns(j, i) = row[j];
    for (std::int64_t j = 0; j < k; ++j) right(i, j) = row[length + j];
  }
  return done ? 0 : static_cast<std::int32_t>(k);
}

}  // namespace

void svd(NdArray& u, NdArray& s, NdArray& vh, NdArray& info, const NdArray& a) {
  visit_float_double(a.dtype(), "linalg.svd", [&]<class T> {
    const Batch<T> x(a), left(u), right(vh);
    const bool tall = x.rows >= x.cols;
    const std::int64_t k = std::min(x.rows, x.cols), length = std::max(x.rows, x.cols);
    const std::int64_t full = tall ? left.cols : right.rows;
    NdArray columns = NdArray::empty({x.count, length, k}, a.dtype());
    NdArray rotations = NdArray::empty({x.count, k, k}, a.dtype()),
            tau = NdArray::empty({x.count, k}, a.dtype());
    const Batch<T> c(columns), r(rotations);
    for_matrices(x.count, 30 * k * k * length, [&](std::int64_t i) {
      const Matrix<const T> matrix = matrix_of(x, i).read();
      info.address_as<std::int32_t>()[i] =
          rotate<T>(tall ? matrix.t() : matrix, s.address_as<T>() + i * k, matrix_of(c, i), matrix_of(r, i));
    });
    qr(columns, tau);
    NdArray basis = NdArray::empty({x.count, length, full}, a.dtype());
    householder_q(basis, columns, tau);
    const Batch<T> q(basis);
    for (std::int64_t i = 0; i < x.count; ++i) {
      const Matrix<T> turned = matrix_of(c, i), v = matrix_of(r, i);
      const Matrix<T> long_side = tall ? matrix_of(left, i) : matrix_of(right, i).t();
      const Matrix<T> short_side = tall ? matrix_of(right, i) : matrix_of(left, i).t();
      for (std::int64_t row = 0; row < length; ++row)
        for (std::int64_t j = 0; j < full; ++j)
          long_side(row, j) = j < k && turned(j, j) < 0 ? -matrix_of(q, i)(row, j) : matrix_of(q, i)(row, j);
      for (std::int64_t row = 0; row < k; ++row)
        for (std::int64_t j = 0; j < k; ++j) short_side(row, j) = v(row, j);
    }
  });
}

}  // namespace ebb::cpu
