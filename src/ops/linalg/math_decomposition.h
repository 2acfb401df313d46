// Householder reflections and Jacobi rotations, for host and device.
#pragma once

#include "kernel/carrier.h"

#include <cmath>

namespace ebb::decomposition {

/// The reflection I - tau v v^T with v = (1, x / scale), which maps (first, x) to (beta, 0) (LAPACK's larfg).
template <class T>
struct Reflection {
  T tau, beta, scale;
  /// `tail` is the norm of x.
  EBB_HD Reflection(T first, T tail) : tau(0), beta(first), scale(1) {
    if (tail == T(0)) return;
    const T length = std::hypot(first, tail);
    beta = first > T(0) ? -length : length;
    tau = (beta - first) / beta;
    scale = first - beta;
  }
};

/// The rotation p' = c p - s q, q' = s p + c q, which makes the rows p and q orthogonal. `a` and `b` are
/// their squared lengths, and `g` is their inner product (one-sided Jacobi, after Rutishauser).
template <class T>
struct Rotation {
  T c, s;
  EBB_HD Rotation(T a, T b, T g) {
    const T zeta = (b - a) / (2 * g);
    const T t = (zeta >= T(0) ? T(1) : T(-1)) / (std::fabs(zeta) + std::sqrt(1 + zeta * zeta));
    c = 1 / std::sqrt(1 + t * t);
    s = c * t;
  }
};

/// Returns whether the inner product of two rows is larger than rounding errors. It must be larger than
/// `relative` times both lengths. For short rows it must also be larger than `negligible`, a fraction of the
/// longest row, times the larger length.
template <class T>
EBB_HD bool worth_rotating(T a, T b, T g, T relative, T negligible) {
  const T p = std::sqrt(a), q = std::sqrt(b), size = std::fabs(g);
  return size > relative * p * q && size > negligible * (p > q ? p : q);
}

}  // namespace ebb::decomposition
