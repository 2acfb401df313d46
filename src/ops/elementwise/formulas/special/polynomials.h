// Orthogonal polynomials, computed by their three-term recurrences (DLMF 18.9). Chebyshev
// polynomials are also computed from cosines and sines of multiple angles.
#pragma once

#include "ops/elementwise/formulas/special/numerics.h"

#include <cstdint>

namespace ebb::ops {

/// The kinds of polynomials. A shifted polynomial at x is the unshifted one at 2 x - 1.
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

/// The cosine and the sine of times * (angle + rest), where `rest` is tiny. The rounding error of times *
/// angle is corrected.
struct MultipleAngle {
  double cosine, sine;
  EBB_HD MultipleAngle(double times, double angle, double rest) {
    const Twofold z = exact_product(times, angle);
    const double c = std::cos(z.high), s = std::sin(z.high), low = z.low + times * rest;
    cosine = std::fma(-low, s, c);
    sine = std::fma(low, c, s);
  }
};

/// Returns a Chebyshev polynomial of high degree n at t = cos(theta) or cosh(theta), |t| <= 2. It is computed
/// from theta, because the recurrence would take n steps. `end` is 1 - |t|. For a shifted polynomial the
/// caller computes `end` from x, because t = 2 x - 1 has already lost digits.
EBB_HD inline double chebyshev_by_angle(Polynomial kind, double t, double end, double n) {
  const int quarters = static_cast<int>(std::fmod(n, 4.0));
  double sign = 1;
  if (t < 0) {
    sign = quarters % 2 ? -1 : 1;
    kind = kind == Polynomial::chebyshev_v   ? Polynomial::chebyshev_w
           : kind == Polynomial::chebyshev_w ? Polynomial::chebyshev_v
                                             : kind;
  }
  const bool first = kind == Polynomial::chebyshev_t, second = kind == Polynomial::chebyshev_u;
  const bool third = kind == Polynomial::chebyshev_v;
  if (end == 0) return sign * (first || third ? 1 : second ? n + 1 : n + n + 1);
  const double times = first ? n : second ? n + 1 : n + 0.5;
  if (end < 0) {
    const double theta = 2 * std::asinh(std::sqrt(-end / 2)), z = times * theta;
    const double by = first    ? 1
                      : second ? std::sinh(theta)
                      : third  ? std::cosh(theta / 2)
                               : std::sinh(theta / 2);
    if (z > 30) return sign * times_exp(0.5 / by, z);
    return sign * (first || third ? std::cosh(z) : std::sinh(z)) / by;
  }
  if (end < 0.3) {
    const double half = end / 2, sine = std::sqrt(half), theta = 2 * std::asin(sine);
    const MultipleAngle z(times, theta, std::fma(-sine, sine, half) / sine / std::sqrt(1 - half));
    const double by = first    ? 1
                      : second ? std::sin(theta)
                      : third  ? std::cos(theta / 2)
                               : std::sin(theta / 2);
    return sign * (first || third ? z.cosine : z.sine) / by;
  }
  // Uses pi / 2 - theta, which keeps the digits of small t.
  const double complement = std::asin(std::fabs(t));
  const MultipleAngle z(times, complement, 0);
  const double c = z.cosine, s = z.sine;
  if (first || second) {
    const double wave = quarters == 0 ? c : quarters == 1 ? s : quarters == 2 ? -c : -s;
    return first ? sign * wave : sign * wave / std::cos(complement);
  }
  const double half_c = std::cos(complement / 2), half_s = std::sin(complement / 2);
  if (quarters >= 2) sign = -sign;
  const bool even = quarters % 2 == 0;
  if (third) return sign * (even ? c + s : s - c) / (half_c + half_s);
  return sign * (even ? c - s : c + s) / (half_c - half_s);
}

/// Returns an infinity, the value of a polynomial of degree n whose magnitude overflows at t. The sign is
/// that of the polynomial beyond all of its zeros on the same side as t.
EBB_HD inline double polynomial_overflow(Polynomial kind, double t, double n) {
  const bool turns = kind == Polynomial::laguerre_l ? t > 0 : t < 0;
  return turns && std::fmod(n, 2.0) != 0 ? -kInfinity : kInfinity;
}

/// Returns the polynomial of degree n >= 1 at t by its recurrence. The values are stored with a separate
/// exponent, because intermediate values may overflow although the result does not.
EBB_HD inline double polynomial_by_recurrence(Polynomial kind, Twofold t, double n) {
  int shift = 0;  // from here on t means t 2^shift
  if (std::fabs(t.high) > 1e100) t = std::frexp(t.high, &shift);
  const double unit = std::ldexp(1.0, -shift);
  const bool chebyshev = kind <= Polynomial::chebyshev_w, laguerre = kind == Polynomial::laguerre_l;
  const bool legendre = kind == Polynomial::legendre_p, plain = kind == Polynomial::hermite_he;
  Twofold before = unit, value = t;
  if (kind == Polynomial::chebyshev_u || kind == Polynomial::hermite_h)
    value = t + t;
  else if (kind == Polynomial::chebyshev_v)
    value = t + t - unit;
  else if (kind == Polynomial::chebyshev_w)
    value = t + t + unit;
  else if (laguerre)
    value = Twofold(unit) - t;
  double exponent = shift;
  for (double k = 1; k < n; k += 1) {
    const Twofold by = legendre   ? t * (2 * k + 1)
                       : laguerre ? Twofold((2 * k + 1) * unit) - t
                       : plain    ? t
                                  : t + t;
    const double of_before = chebyshev ? unit : kind == Polynomial::hermite_h ? 2 * k * unit : k * unit;
    Twofold next = by * value - before * of_before;
    if (laguerre || legendre) next = next / (k + 1);
    before = value * unit;
    value = next;
    exponent += shift;
    if (std::fabs(value.high) > 1e150) {
      value = value * 0x1p-400;
      before = before * 0x1p-400;
      exponent += 400;
      // Beyond all zeros the magnitudes only grow, so the result is an infinity. Between the zeros they may
      // decrease again. In that case the loop ends after a million steps, and the result has the sign of the
      // current value.
      const double size = std::fabs(t.high) / unit;
      const bool beyond = chebyshev || legendre ? size >= 1
                          : laguerre            ? t.high < 0 || size > 4 * n + 2
                                                : size * size > 4 * n + 2;
      if (exponent > 4000 && beyond) return polynomial_overflow(kind, t.high, n);
      if (exponent > 4000 && k > 1e6) break;
    }
  }
  return std::ldexp(value.high, static_cast<int>(exponent < 1e5 ? exponent : 1e5));
}

/// Returns the polynomial at x. The degree is rounded towards 0; the value for negative degrees is 0.
EBB_HD [[gnu::noinline]] inline double orthogonal_polynomial(Polynomial kind, double x, double degree) {
  const bool shifted = kind >= Polynomial::shifted_chebyshev_t;
  if (shifted)
    kind =
        static_cast<Polynomial>(static_cast<int>(kind) - static_cast<int>(Polynomial::shifted_chebyshev_t));
  if (!(degree > -1)) return degree <= -1 ? 0 : degree;
  double n = std::trunc(degree);
  const double rough = shifted ? x + x - 1 : x;
  const bool chebyshev = kind <= Polynomial::chebyshev_w;
  // At +-0.5 = +-cos(pi / 3) the values are periodic in n, and some of them are 0.
  if (chebyshev && std::fabs(rough) == 0.5) n = std::fmod(n, 6.0);
  if (n == 0) return 1;
  if (x != x) return x;
  if (n == kInfinity) return quiet_nan<double>();
  if (std::fabs(rough) == kInfinity) return polynomial_overflow(kind, x, n);
  if (chebyshev && n > 8 && (std::fabs(rough) <= 1 || (std::fabs(rough) <= 2 && n > 300)))
    return chebyshev_by_angle(kind, rough, !shifted ? 1 - std::fabs(x) : x < 0.5 ? x + x : 2 - (x + x), n);
  return polynomial_by_recurrence(kind, shifted ? exact_sum(x + x, -1) : Twofold(x), n);
}

}  // namespace ebb::ops
