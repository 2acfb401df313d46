// Dense matrices by plain loops, for the references of linear algebra.
#pragma once

#include "optable/table.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace optable::dense {

/// A matrix of doubles.
struct Mat {
  std::int64_t m, n;
  std::vector<double> v;
  Mat(std::int64_t rows, std::int64_t cols)
      : m(rows), n(cols), v(static_cast<std::size_t>(rows * cols), 0.0) {}
  double& operator()(std::int64_t i, std::int64_t j) { return v[static_cast<std::size_t>(i * n + j)]; }
  double operator()(std::int64_t i, std::int64_t j) const { return v[static_cast<std::size_t>(i * n + j)]; }
};

inline Mat identity(std::int64_t n) {
  Mat out(n, n);
  for (std::int64_t i = 0; i < n; ++i) out(i, i) = 1;
  return out;
}
inline Mat transpose(const Mat& a) {
  Mat out(a.n, a.m);
  for (std::int64_t i = 0; i < a.m; ++i)
    for (std::int64_t j = 0; j < a.n; ++j) out(j, i) = a(i, j);
  return out;
}
inline Mat times(const Mat& a, const Mat& b) {
  Mat out(a.m, b.n);
  for (std::int64_t i = 0; i < a.m; ++i)
    for (std::int64_t l = 0; l < a.n; ++l)
      for (std::int64_t j = 0; j < b.n; ++j) out(i, j) += a(i, l) * b(l, j);
  return out;
}
inline Mat combine(const Mat& a, double f, const Mat& b) {
  Mat out = a;
  for (std::size_t i = 0; i < out.v.size(); ++i) out.v[i] += f * b.v[i];
  return out;
}

/// Computes A^-1 B by Gauss-Jordan elimination with partial pivoting, and the determinant.
inline Mat solve(Mat a, Mat b, double* determinant = nullptr) {
  double det = 1;
  for (std::int64_t c = 0; c < a.n; ++c) {
    std::int64_t p = c;
    for (std::int64_t i = c; i < a.m; ++i)
      if (std::fabs(a(i, c)) > std::fabs(a(p, c))) p = i;
    if (p != c) det = -det;
    for (std::int64_t j = 0; j < a.n; ++j) std::swap(a(c, j), a(p, j));
    for (std::int64_t j = 0; j < b.n; ++j) std::swap(b(c, j), b(p, j));
    const double d = a(c, c);
    det *= d;
    for (std::int64_t j = 0; j < a.n; ++j) a(c, j) /= d;
    for (std::int64_t j = 0; j < b.n; ++j) b(c, j) /= d;
    for (std::int64_t i = 0; i < a.m; ++i) {
      const double f = a(i, c);
      if (i == c) continue;
      for (std::int64_t j = 0; j < a.n; ++j) a(i, j) -= f * a(c, j);
      for (std::int64_t j = 0; j < b.n; ++j) b(i, j) -= f * b(c, j);
    }
  }
  if (determinant) *determinant = det;
  return b;
}
inline Mat inverse(const Mat& a) { return solve(a, identity(a.n)); }
inline double det(const Mat& a) {
  double d = 0;
  solve(a, identity(a.n), &d);
  return d;
}

/// Returns the factors of A = L U without pivoting, where L has a unit diagonal (Doolittle). L has as many
/// columns, and U as many rows, as the shorter side of A.
inline std::pair<Mat, Mat> unpivoted(const Mat& a) {
  const std::int64_t k = std::min(a.m, a.n);
  Mat l(a.m, k), u(k, a.n);
  const auto rest = [&](std::int64_t i, std::int64_t j, std::int64_t terms) {
    double s = a(i, j);
    for (std::int64_t t = 0; t < terms; ++t) s -= l(i, t) * u(t, j);
    return s;
  };
  for (std::int64_t i = 0; i < k; ++i) {
    for (std::int64_t j = i; j < a.n; ++j) u(i, j) = rest(i, j, i);
    for (std::int64_t j = i; j < a.m; ++j) l(j, i) = j == i ? 1 : rest(j, i, i) / u(i, i);
  }
  return {l, u};
}

/// Returns the eigenvalues of a symmetric matrix in ascending order, by Jacobi rotations.
inline std::vector<double> eigenvalues(Mat a) {
  for (int sweep = 0; sweep < 60; ++sweep)
    for (std::int64_t p = 0; p < a.n; ++p)
      for (std::int64_t q = p + 1; q < a.n; ++q) {
        if (a(p, q) == 0) continue;
        const double angle = 0.5 * std::atan2(2 * a(p, q), a(q, q) - a(p, p)), c = std::cos(angle),
                     s = std::sin(angle);
        for (std::int64_t i = 0; i < a.n; ++i) {
          const double x = a(i, p), y = a(i, q);
          a(i, p) = c * x - s * y, a(i, q) = s * x + c * y;
        }
        for (std::int64_t i = 0; i < a.n; ++i) {
          const double x = a(p, i), y = a(q, i);
          a(p, i) = c * x - s * y, a(q, i) = s * x + c * y;
        }
      }
  std::vector<double> out;
  for (std::int64_t i = 0; i < a.n; ++i) out.push_back(a(i, i));
  std::sort(out.begin(), out.end());
  return out;
}

/// Returns the singular values in descending order.
inline std::vector<double> singular_values(const Mat& a) {
  std::vector<double> out = eigenvalues(a.m >= a.n ? times(transpose(a), a) : times(a, transpose(a)));
  for (double& x : out) x = std::sqrt(std::fmax(x, 0));
  return {out.rbegin(), out.rend()};
}

/// Returns the i-th matrix of a batch.
inline Mat matrix(const Array& x, std::size_t i = 0) {
  const std::size_t d = x.sizes.size();
  Mat out(x.sizes[d - 2], x.sizes[d - 1]);
  for (std::size_t j = 0; j < out.v.size(); ++j) out.v[j] = x.values[i * out.v.size() + j];
  return out;
}
inline std::size_t count(const Array& x) { return x.values.size() / matrix(x).v.size(); }

/// Applies f to every matrix and returns the resulting matrices.
template <class F>
Array each(const Array& x, const F& f) {
  Array out;
  out.sizes = x.sizes;
  for (std::size_t i = 0; i < count(x); ++i) {
    const Mat y = f(matrix(x, i));
    out.sizes[x.sizes.size() - 2] = y.m;
    out.sizes[x.sizes.size() - 1] = y.n;
    out.values.insert(out.values.end(), y.v.begin(), y.v.end());
  }
  return out;
}
/// Applies f to every matrix and returns the resulting lists of numbers.
template <class F>
Array each_list(const Array& x, const F& f) {
  Array out;
  out.sizes.assign(x.sizes.begin(), x.sizes.end() - 1);
  for (std::size_t i = 0; i < count(x); ++i) {
    const std::vector<double> y = f(matrix(x, i));
    out.sizes.back() = static_cast<std::int64_t>(y.size());
    out.values.insert(out.values.end(), y.begin(), y.end());
  }
  return out;
}
/// Applies f to every matrix and returns the resulting numbers.
template <class F>
Array each_number(const Array& x, const F& f) {
  Array out = each_list(x, [&](const Mat& a) { return std::vector<double>{f(a)}; });
  out.sizes.pop_back();
  return out;
}

/// Returns x / 3 + 2, which is far from singular for every size, as matrix and as tensor.
inline Mat tame(Mat a) {
  for (std::int64_t i = 0; i < a.m; ++i)
    for (std::int64_t j = 0; j < a.n; ++j) a(i, j) = a(i, j) / static_cast<double>(a.n) + (i == j ? 2 : 0);
  return a;
}
inline Variable tame(V x) {
  if (x.dim() < 2) return x;
  return x / static_cast<double>(std::max<std::int64_t>(x.size(-1), 1)) +
         2 * ebb::eye(x.size(-2), x.size(-1), x.options().requires_grad(false));
}
/// Returns the product of tame(x) with its transpose.
inline Mat gram(const Mat& a) { return times(tame(a), transpose(tame(a))); }
inline Variable gram(V x) { return x.dim() < 2 ? x : ebb::matmul(tame(x), tame(x).mT()); }

/// Rotations are slow on an emulated device, so rows that need them reject enlarged sizes.
inline void check_small(V x) {
  EBB_CHECK(x.size(-1) <= 12 && x.size(-2) <= 12 && x.numel() <= 300,
            "this row accepts only few small matrices");
}
/// Returns x x^T / n + diag(1, 2, ...): positive definite with well separated eigenvalues.
inline Mat spread(const Mat& a) {
  Mat out = times(a, transpose(a));
  for (std::int64_t i = 0; i < out.m; ++i)
    for (std::int64_t j = 0; j < out.n; ++j)
      out(i, j) = out(i, j) / static_cast<double>(a.n) + (i == j ? static_cast<double>(i + 1) : 0);
  return out;
}
inline Variable spread(V x) {
  if (x.dim() < 2) return x;
  check_small(x);
  const Variable steps = ebb::arange(1, x.size(-2) + 1, x.options().requires_grad(false));
  return ebb::matmul(x, x.mT()) / static_cast<double>(std::max<std::int64_t>(x.size(-1), 1)) +
         ebb::diag(steps);
}
/// Returns x / 4 with 1, 2, ... added to the diagonal: the singular values are well separated and not close
/// to zero.
inline Mat graded(Mat a) {
  for (std::int64_t i = 0; i < a.m; ++i)
    for (std::int64_t j = 0; j < a.n; ++j) a(i, j) = a(i, j) / 4 + (i == j ? static_cast<double>(i + 1) : 0);
  return a;
}
inline Variable graded(V x) {
  if (x.dim() < 2) return x;
  check_small(x);
  const auto options = x.options().requires_grad(false);
  const Variable steps = ebb::arange(1, x.size(-2) + 1, options);
  return x / 4 + ebb::eye(x.size(-2), x.size(-1), options) * steps.unsqueeze(-1);
}

constexpr const char* kNoHalf = "16-bit floats are refused, as in PyTorch";

}  // namespace optable::dense
