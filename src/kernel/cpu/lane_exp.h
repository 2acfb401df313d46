// Powers of e and 2 for the lanes of a register, to 1.1 units in the last place, including subnormal results.
// Also the logistic function and its derivative.
#pragma once

#include "kernel/cpu/lanes.h"

#if EBB_LIBMVEC

#include <array>

namespace ebb::cpu {

namespace lane_math {

/// The bits of the lanes as unsigned integers; sums wrap.
typedef std::uint32_t Ints __attribute__((vector_size(kLaneBytes)));
typedef std::uint64_t Longs __attribute__((vector_size(kLaneBytes)));

/// Constants of the exponentials. x + kShift contains x, rounded to an integer, in its low bits. For |x| <=
/// kNear the power is a normal number and is scaled by one factor 2^n; for larger |x| two factors are needed.
/// For |x| >= kFar the result is 0 or infinite.
template <class T>
struct ExpConstants;
template <>
struct ExpConstants<float> {
  using Bits = Ints;
  static constexpr float kShift = 0x1.8p23f, kBias = 127, kLn2High = 0x1.63p-1f, kLn2Low = -0x1.bd0106p-13f;
  static constexpr float kNear = 87, kNearBinary = 125, kFar = 170, kFarBinary = 248;
  static constexpr int kMantissa = 23;
  static constexpr std::uint32_t kOne = 0x3f800000;
  // (e^r - 1 - r) / r^2 for |r| <= log(2) / 2.
  static constexpr std::array kSeries = {0.5f, 0.16666577f, 0.0416665547f, 0.00836317307f, 0.00139261761f};
};
template <>
struct ExpConstants<double> {
  using Bits = Longs;
  static constexpr double kShift = 0x1.8p52, kBias = 1023, kLn2High = 0x1.62e42feep-1,
                          kLn2Low = 1.9082149292705878161e-10;
  static constexpr double kNear = 708, kNearBinary = 1021, kFar = 1400, kFarBinary = 2020;
  static constexpr int kMantissa = 52;
  static constexpr std::uint64_t kOne = 0x3ff0000000000000;
  static constexpr std::array kSeries = {0.5,
                                         0.16666666666666667,
                                         0.041666666666624162,
                                         0.0083333333333300644,
                                         0.0013888888917196719,
                                         0.00019841269863040545,
                                         2.4801521322368693e-5,
                                         2.7557268480310026e-6,
                                         2.7620075879983367e-7,
                                         2.5100375832561234e-8};
};

/// The argument reduction: x = n log(2) + r for powers of e, and x = n + r / log(2) for powers of 2, with an
/// integer n and |r| <= log(2) / 2. `shifted` is n + kShift.
template <bool kBinary, class T>
struct Reduced {
  using L = Lanes<T>;
  using C = ExpConstants<T>;
  L shifted, r;
  [[gnu::always_inline]] explicit Reduced(L x) {
    shifted = kBinary ? x + L(C::kShift) : fma(x, L(T(1.4426950408889634074)), L(C::kShift));
    const L n = shifted - L(C::kShift), part = x - n;
    r = kBinary ? fma(part, L(C::kLn2High), part * L(C::kLn2Low))
                : fma(n, L(-C::kLn2Low), fma(n, L(-C::kLn2High), x));
  }
  /// Returns e^r - 1.
  [[gnu::always_inline]] L above_one() const {
    L p = C::kSeries.back();
    for (std::size_t k = C::kSeries.size() - 1; k > 0; --k) p = fma(p, r, L(C::kSeries[k - 1]));
    return fma(p, r * r, r);
  }
  /// Computes 2^n as two factors.
  void split(L& first, L& second) const {
    using Bits = typename C::Bits;
    using Vector = typename L::Vector;
    const L n = shifted - L(C::kShift), whole = fma(n, L(T(0.5)), L(C::kShift)), half = whole - L(C::kShift);
    const L other = (n - half) + L(C::kShift);
    first = (Vector)(((Bits)whole.v << C::kMantissa) + C::kOne);
    second = (Vector)(((Bits)other.v << C::kMantissa) + C::kOne);
  }
};

template <bool kBinary, class T>
constexpr T kNear = kBinary ? ExpConstants<T>::kNearBinary : ExpConstants<T>::kNear;

/// Clamps x to the range of the power functions; NaN stays NaN.
template <bool kBinary, class T>
Lanes<T> within(Lanes<T> x) {
  const Lanes<T> far = kBinary ? ExpConstants<T>::kFarBinary : ExpConstants<T>::kFar;
  return least(far, where(x < -far, -far, x));
}

/// Returns e^x or 2^x for arguments with all_near(x).
template <bool kBinary, class T>
[[gnu::always_inline]] inline Lanes<T> near_power(Lanes<T> x) {
  using C = ExpConstants<T>;
  using Bits = typename C::Bits;
  const Reduced<kBinary, T> at(x);
  const Lanes<T> mantissa = at.above_one() + 1;
  return (typename Lanes<T>::Vector)((Bits)mantissa.v + ((Bits)at.shifted.v << C::kMantissa));
}
template <bool kBinary, class T>
[[gnu::always_inline]] inline bool all_near(Lanes<T> x) {
  return all(abs(x) < Lanes<T>(kNear<kBinary, T>));
}

}  // namespace lane_math

/// A power in the form (mantissa + rest) * first * second. Products with it are accurate even if the power
/// itself overflows or is subnormal.
template <class T>
struct LaneExponential {
  using L = Lanes<T>;
  L mantissa, rest, first, second;

  template <bool kBinary>
  [[gnu::always_inline]] static LaneExponential of(L x) {
    using C = lane_math::ExpConstants<T>;
    LaneExponential e;
    const bool near = lane_math::all_near<kBinary>(x);
    if (!near) [[unlikely]]
      x = lane_math::within<kBinary>(x);
    const lane_math::Reduced<kBinary, T> at(x);
    const L above = at.above_one();
    e.mantissa = above + 1;
    e.rest = above - (e.mantissa - 1);
    e.first = (typename L::Vector)(((typename C::Bits)at.shifted.v << C::kMantissa) + C::kOne);
    e.second = 1;
    if (!near) [[unlikely]]
      at.split(e.first, e.second);
    return e;
  }
  L times(L a) const { return fma(a, mantissa, a * rest) * first * second; }
  L value() const { return mantissa * first * second; }
};

template <class T>
[[gnu::always_inline]] inline LaneExponential<T> exponential(Lanes<T> x) {
  return LaneExponential<T>::template of<false>(x);
}
template <class T>
[[gnu::always_inline]] inline LaneExponential<T> exponential2(Lanes<T> x) {
  return LaneExponential<T>::template of<true>(x);
}

namespace lane_math {

/// Returns e^-x for -kNear <= x <= kNear, 1 for smaller x, and e^-kNear for larger x. For x outside of
/// [-kNear, kNear], callers use another formula. The result of a lane does not depend on whether other lanes
/// are outside.
template <class T>
Lanes<T> opposite_power(Lanes<T> x) {
  using L = Lanes<T>;
  constexpr T kEnd = kNear<false, T>;
  const L near = where(x <= L(-kEnd), 0, x);
  return where(x == x, near_power<false>(-least(L(kEnd), near)), x);
}

}  // namespace lane_math

/// Returns a / (1 + e^-x). If e^-x would overflow, returns a e^x; for a = x = -infinity the result is 0.
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

/// Computes sigmoid(x) and its complement sigmoid(-x) with one exponential.
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

/// Returns g times the derivative of the logistic function at x, given `size` = |x|.
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
