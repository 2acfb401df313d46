// The logistic function of several numbers at once, and its slope.
#pragma once

#include "kernel/cpu/lane_exp.h"

#if EBB_LIBMVEC

namespace ebb::cpu {

namespace lane_math {

/// e^-x for functions with a formula of their own from kNear on, and 1 below -kNear: in a register with such
/// numbers the others have the bits that they have elsewhere.
template <class T>
Lanes<T> opposite_power(Lanes<T> x) {
  using L = Lanes<T>;
  constexpr T kEnd = kNear<false, T>;
  const L near = where(x <= L(-kEnd), 0, x);
  return where(x == x, near_power<false>(-least(L(kEnd), near)), x);
}

}  // namespace lane_math

/// a / (1 + e^-x), which is a e^x where e^-x is infinite; 0 for a = x = -infinity.
template <class T>
[[gnu::noinline, gnu::cold]] Lanes<T> far_sigmoid_times(Lanes<T> a, Lanes<T> x) {
  const Lanes<T> factor = where(a < Lanes<T>(T(-1e6)), Lanes<T>(T(-1e6)), a);
  return where(x <= Lanes<T>(-lane_math::kNear<false, T>), exponential(x).times(factor),
               a / (lane_math::opposite_power(x) + 1));
}
template <class T>
[[gnu::always_inline]] inline Lanes<T> sigmoid_times(Lanes<T> a, Lanes<T> x) {
  if (!lane_math::all_near<false>(x)) [[unlikely]]
    return far_sigmoid_times(a, x);
  return a / (lane_math::near_power<false>(-x) + 1);
}
template <class T>
[[gnu::always_inline]] inline Lanes<T> sigmoid(Lanes<T> x) {
  return sigmoid_times(Lanes<T>(T(1)), x);
}

/// sigmoid(x) and its complement, sigmoid(-x), by one exponential.
template <class T>
[[gnu::noinline, gnu::cold]] void far_logistic_pair(Lanes<T> x, Lanes<T>& share, Lanes<T>& rest) {
  const Lanes<T> end = lane_math::kNear<false, T>, near = lane_math::opposite_power(x),
                 large = 1 / (near + 1);
  share = where(x <= -end, exponential(x).value(), large);
  rest = where(x <= -end, 1, where(x >= end, exponential(-x).value(), near * large));
}
template <class T>
[[gnu::always_inline]] inline void logistic_pair(Lanes<T> x, Lanes<T>& share, Lanes<T>& rest) {
  if (!lane_math::all_near<false>(x)) [[unlikely]]
    return far_logistic_pair(x, share, rest);
  const Lanes<T> e = lane_math::near_power<false>(-x);
  share = 1 / (e + 1);
  rest = e * share;
}

/// g times the slope of the logistic function at x.
template <class T>
Lanes<T> near_logistic_gradient(Lanes<T> g, Lanes<T> size) {
  const Lanes<T> e = lane_math::near_power<false>(-size);
  return g * e / fma(e, e + 2, 1);
}
template <class T>
[[gnu::noinline, gnu::cold]] Lanes<T> far_logistic_gradient(Lanes<T> g, Lanes<T> size) {
  const auto near = size < Lanes<T>(lane_math::kNear<false, T>);
  return where(near, near_logistic_gradient(g, where(near, size, 0)), exponential(-size).times(g));
}
template <class T>
[[gnu::always_inline]] inline Lanes<T> logistic_gradient(Lanes<T> g, Lanes<T> x) {
  const Lanes<T> size = abs(x);
  return lane_math::all_near<false>(x) ? near_logistic_gradient(g, size) : far_logistic_gradient(g, size);
}

}  // namespace ebb::cpu

#endif
