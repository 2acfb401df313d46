// Chebyshev series, which approximate the functions of this folder if no other series is short. The
// coefficients were computed from values of the functions with 45 digits.
#pragma once

#include "kernel/carrier.h"

#include <cmath>

namespace ebb::ops {

constexpr double kInfinity = __builtin_inf();

/// Returns the sum of c[k] T_k(t) for t in [-1, 1], by Clenshaw's recurrence (1955).
template <int N>
EBB_HD inline double chebyshev_sum(double t, const double (&c)[N]) {
  double b = 0, next = 0;
  for (int k = N - 1; k > 0; --k) {
    const double sum = 2 * t * b - next + c[k];
    next = b;
    b = sum;
  }
  return std::fma(t, b, c[0] - next);
}

}  // namespace ebb::ops
