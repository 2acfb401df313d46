// Orthogonal polynomials by their three-term recurrences (DLMF 18.9).
#pragma once

#include <cstdint>

#include "ops/elementwise/formulas/special/series.h"

namespace ebb::ops {

/// The shifted ones are those of 2 x - 1.
enum class Polynomial : std::uint8_t {
  chebyshev_t,
  chebyshev_u,
  chebyshev_v,
  chebyshev_w,
  hermite_h,
  hermite_he,
  laguerre_l,
  legendre_p,
  shifted_chebyshev_t,
  shifted_chebyshev_u,
  shifted_chebyshev_v,
  shifted_chebyshev_w,
};

/// Chebyshev polynomials of high degree inside (-1, 1), by trigonometry: the recurrence would lose a digit
/// for every tenfold degree, and take that many steps.
EBB_HD inline double chebyshev_by_angle(Polynomial kind, double x, double n) {
  const double angle = std::acos(x);
  switch (kind) {
    case Polynomial::chebyshev_t:
      return std::cos(n * angle);
    case Polynomial::chebyshev_u:
      return std::sin((n + 1) * angle) / std::sin(angle);
    case Polynomial::chebyshev_v:
      return std::cos((n + 0.5) * angle) / std::cos(angle / 2);
    default:
      return std::sin((n + 0.5) * angle) / std::sin(angle / 2);
  }
}

/// The polynomial of degree n, rounded towards 0, at x; 0 for negative degrees.
EBB_HD [[gnu::noinline]] inline double orthogonal_polynomial(Polynomial kind, double x, double degree) {
  if (kind >= Polynomial::shifted_chebyshev_t) {
    x = x + x - 1;
    kind =
        static_cast<Polynomial>(static_cast<int>(kind) - static_cast<int>(Polynomial::shifted_chebyshev_t));
  }
  if (!(degree >= 0)) return degree < 0 ? 0 : degree;
  const double n = std::floor(degree);
  if (n == 0) return 1;
  if (x != x) return x;
  const bool chebyshev = kind <= Polynomial::chebyshev_w;
  if (chebyshev && n > 8 && x > -1 && x < 1) return chebyshev_by_angle(kind, x, n);
  double before = 1, value = x;
  if (kind == Polynomial::chebyshev_u || kind == Polynomial::hermite_h)
    value = x + x;
  else if (kind == Polynomial::chebyshev_v)
    value = x + x - 1;
  else if (kind == Polynomial::chebyshev_w)
    value = x + x + 1;
  else if (kind == Polynomial::laguerre_l)
    value = 1 - x;
  // At the ends of the interval Chebyshev's grow by the same step each time, or change sign.
  if (chebyshev && (x == 1 || x == -1)) {
    const double sign = x > 0 || std::fmod(n, 2.0) == 0 ? 1 : -1, size = std::fabs(value);
    return sign * (size == 1 ? 1 : 1 + n * (size - 1));
  }
  for (double k = 1; k < n && std::fabs(value) < kInfinity; k += 1) {
    double next;
    if (chebyshev)
      next = (x + x) * value - before;
    else if (kind == Polynomial::hermite_h)
      next = 2 * (x * value - k * before);
    else if (kind == Polynomial::hermite_he)
      next = x * value - k * before;
    else if (kind == Polynomial::laguerre_l)
      next = ((k + k + 1 - x) * value - k * before) / (k + 1);
    else
      next = ((k + k + 1) * x * value - k * before) / (k + 1);
    before = value;
    value = next;
  }
  return value;
}

}  // namespace ebb::ops
