// The curves that smooth activations are made of, exact on their small sides: the logistic function and the
// normal distribution.
#pragma once

#include "ops/elementwise/formula.h"

namespace ebb::ops {

using std::fma;

/// x within [-bound, bound], for factors of what vanishes further out: infinity times 0 is NaN.
template <class X>
EBB_HD X bounded(const X& x, double bound) {
  const X below = where(x > constant<X>(bound), constant<X>(bound), x);
  return where(below < constant<X>(-bound), constant<X>(-bound), below);
}

/// g times the slope of the logistic function at x; of numbers in a register it stands in kernel/cpu.
template <class X>
  requires std::is_arithmetic_v<X>
EBB_HD X logistic_gradient(X g, X x) {
  const auto power = exponential(-abs(x));
  const X e = power.value();
  return abs(x) < kSafeExponent<X> ? g * e / fma(e, e + 2, X(1)) : power.times(g);
}

/// g times the density of the normal distribution at x.
template <class X>
EBB_HD X normal_gradient(const X& g, const X& x) {
  constexpr double kScale = 0.39894228040143267794;  // 1 / sqrt(2 pi)
  const X inside = bounded(x, 40), square = inside * inside;
  // An error of the square would be that of the result, and the square may be a thousand.
  const X rest = fma(inside, inside, -square);
  return exponential(square * constant<X>(-0.5))
      .times(g * fma(rest, constant<X>(-0.5 * kScale), constant<X>(kScale)));
}

/// a times the share of the normal distribution below x, 0 for x = -infinity; of floats in a register it
/// stands in kernel/cpu.
template <class X>
EBB_HD X normal_share_times(const X& a, const X& x) {
  const X factor = where(a < constant<X>(-kFar<double>), constant<X>(-kFar<double>), a);
  return factor * (erfc(x * constant<X>(-0.70710678118654752440)) * constant<X>(0.5));
}

}  // namespace ebb::ops
