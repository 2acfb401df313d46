// The logistic function's gradient and the normal distribution function, for smooth activations. Both are
// accurate even where they are small.
#pragma once

#include "ops/elementwise/formula.h"

namespace ebb::ops {

using std::fma;

/// Clamps x to [-bound, bound]. If one factor of a product vanishes for large |x|, the argument of the other
/// factors is clamped, because infinity times 0 is NaN.
template <class X>
EBB_HD X bounded(const X& x, double bound) {
  const X below = where(x > constant<X>(bound), constant<X>(bound), x);
  return where(below < constant<X>(-bound), constant<X>(-bound), below);
}

/// Returns g times the derivative of the logistic function at x. The overload for vectors is in kernel/cpu.
template <class X>
  requires std::is_arithmetic_v<X>
EBB_HD X logistic_gradient(X g, X x) {
  const auto power = exponential(-abs(x));
  const X e = power.value();
  return abs(x) < kSafeExponent<X> ? g * e / fma(e, e + 2, X(1)) : power.times(g);
}

/// Returns g times the density of the normal distribution at x.
template <class X>
EBB_HD X normal_gradient(const X& g, const X& x) {
  constexpr double kScale = 0.39894228040143267794;  // 1 / sqrt(2 pi)
  const X inside = bounded(x, 40), square = inside * inside;
  // An absolute error of the exponent is a relative error of the result. The square may be about 1000, so its
  // rounding error is corrected.
  const X rest = fma(inside, inside, -square);
  return exponential(square * constant<X>(-0.5))
      .times(g * fma(rest, constant<X>(-0.5 * kScale), constant<X>(kScale)));
}

/// Returns a Phi(x), with the normal distribution function Phi; 0 for x = -infinity. The overload for float
/// vectors is in kernel/cpu.
template <class X>
EBB_HD X normal_cdf_times(const X& a, const X& x) {
  const X factor = where(a < constant<X>(-kFar<double>), constant<X>(-kFar<double>), a);
  return factor * (erfc(x * constant<X>(-0.70710678118654752440)) * constant<X>(0.5));
}

}  // namespace ebb::ops
