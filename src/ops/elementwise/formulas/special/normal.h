// The scaled complement of the error function, and the normal distribution's function, its logarithm and its
// inverse.
#pragma once

#include "ops/elementwise/formulas/special.h"
#include "ops/elementwise/formulas/special/series.h"

namespace ebb::ops {

/// e^(x^2) erfc(x): for x >= 0 a series in (x - 15/4) / (x + 15/4) (Shepherd and Laframboise, Math. Comp. 36,
/// 1981), for x < 0 by reflection.
EBB_HD [[gnu::noinline]] inline double erfcx(double x) {
  constexpr double c[] = {
      1.1775789345674017,     -0.004590054580646478,   -0.08424913336651792,    0.05920993999819189,
      -0.026658668435305753,  0.009074997670705265,    -0.002413163540417608,   0.0004907758365258086,
      -6.916973302501207e-05, 4.13902798607301e-06,    7.74038306619849e-07,    -2.1886401049234397e-07,
      1.076499946567091e-08,  4.521959811218287e-09,   -7.754400208831351e-10,  -6.318088340886684e-11,
      2.86879501093067e-11,   1.9455868545777347e-13,  -9.65469674843344e-13,   3.25254814814874e-14,
      3.3478119482868056e-14, -1.864562880419313e-15,  -1.2507950530688648e-15, 7.418235256624044e-17,
      5.068148904796111e-17,  -2.2370566594359995e-18, -2.187342944303018e-18};
  const double a = std::fabs(x);
  if (!(a < kInfinity)) return x < 0 ? kInfinity : a == a ? 0 : x;
  const double right = chebyshev_sum((a - 3.75) / (a + 3.75), c) / (1 + 2 * a);
  if (x >= 0) return right;
  if (x < -27) return kInfinity;
  const double square = a * a;  // its rounding error would be e^square's relative one
  return 2 * std::exp(square) * (1 + std::fma(a, a, -square)) - right;
}

constexpr double kSqrtHalf = 0.70710678118654752440;

/// The normal distribution function, also where it is tiny.
EBB_HD [[gnu::noinline]] inline double ndtr(double x) {
  if (!(x < -1)) return std::erfc(-x * kSqrtHalf) / 2;
  if (x < -40) return 0;
  const double square = x * x;
  return erfcx(-x * kSqrtHalf) / 2 * std::exp(-square / 2) * (1 - std::fma(x, x, -square) / 2);
}

/// Its logarithm.
EBB_HD [[gnu::noinline]] inline double log_ndtr(double x) {
  if (x < -1) return std::log(erfcx(-x * kSqrtHalf) / 2) - x * x / 2;
  return std::log1p(-ndtr(-x));
}

/// The inverse of the normal distribution function: in the middle by that of erf; in the tails a rational
/// start (Abramowitz and Stegun 26.2.23) and Newton's method on the logarithm of the distribution function.
EBB_HD [[gnu::noinline]] inline double ndtri(double p) {
  if (!(p > 0 && p < 1)) return p == 0 ? -kInfinity : p == 1 ? kInfinity : quiet_nan<double>();
  if (std::fabs(p - 0.5) < 0.25) return erfinv(2 * (p - 0.5)) / kSqrtHalf;
  const double target = p < 0.5 ? std::log(p) : std::log1p(-p), t = std::sqrt(-2 * target);
  double x =
      t - (2.515517 + t * (0.802853 + t * 0.010328)) / (1 + t * (1.432788 + t * (0.189269 + t * 0.001308)));
  for (int i = 0; i < 3; ++i) {  // of the tail at -x
    const double scaled = erfcx(x * kSqrtHalf);
    x += (std::log(scaled / 2) - x * x / 2 - target) * scaled * 1.25331413731550025121;  // sqrt(pi / 2)
  }
  return p < 0.5 ? -x : x;
}

}  // namespace ebb::ops
