// What formulas are written with, whatever carries the numbers: a number, several in a register (cpu::Lanes),
// or a Variable. Functions of the last two are found by their argument; here stand those of plain numbers.
#pragma once

#include <ebb/core/scalar.h>

#include "kernel/convert.h"

#include <cmath>
#include <tuple>
#include <type_traits>

namespace ebb::ops {

using ebb::Compute;

using std::abs, std::sqrt, std::exp, std::exp2, std::expm1, std::log, std::log2, std::log10, std::log1p;
using std::sin, std::cos, std::tan, std::asin, std::acos, std::atan;
using std::sinh, std::cosh, std::asinh, std::acosh, std::atanh, std::erf, std::erfc;

/// A Scalar made ready for inner loops: no branch on its kind.
struct Number {
  double floating = 0;
  std::int64_t integer = 0;
  Number() = default;
  Number(const Scalar& s) : floating(s.to_double()), integer(s.is_floating_point() ? 0 : s.to_long()) {
    if (s.is_floating_point() && floating > -9.2e18 && floating < 9.2e18) integer = s.to_long();
  }
  auto fields() { return std::tie(floating, integer); }
  template <class T>
  EBB_HD T as() const {
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(floating);
    else
      return static_cast<T>(integer);
  }
};

/// A number that formulas of X calculate with: 0.5 as it stands would make doubles of floats.
template <class X>
EBB_HD auto constant(double number) {
  if constexpr (std::is_arithmetic_v<X>)
    return static_cast<X>(number);
  else if constexpr (requires { typename X::Element; })
    return X(static_cast<typename X::Element>(number));
  else
    return Scalar(number);
}
template <class X>
EBB_HD auto constant(const Number& number) {
  if constexpr (std::is_arithmetic_v<X>)
    return number.as<X>();
  else
    return constant<X>(number.floating);
}

/// At least one branch is an X: of two constants a Variable would make numbers of the default dtype.
template <class A, class B>
  requires std::is_arithmetic_v<A> && std::is_arithmetic_v<B>
EBB_HD auto where(bool condition, A a, B b) {
  return condition ? a : b;
}

/// The type of the numbers that X carries.
template <class X>
struct ElementOf {
  using type = X;
};
template <class X>
  requires requires { typename X::Element; }
struct ElementOf<X> {
  using type = typename X::Element;
};
/// The part of `number` + `rest` beyond constant<X>(number).
template <class X>
EBB_HD X constant_rest(double number, double rest) {
  using T = typename ElementOf<X>::type;
  return X(static_cast<T>(number - static_cast<double>(static_cast<T>(number)) + rest));
}

template <class T>
EBB_HD T quiet_nan() {
  return static_cast<T>(__builtin_nanf(""));
}

/// x^3; of a Variable one op.
template <class X>
EBB_HD X cube(const X& x) {
  if constexpr (requires { x.pow(3); })
    return x.pow(3);
  else
    return x * x * x;
}

/// 1 / sqrt(x).
template <class X>
EBB_HD X rsqrt(const X& x) {
  return 1 / sqrt(x);
}

/// A power of e or of 2 whose products are exact also where the power alone overflows or is subnormal.
template <class X>
struct Exponential {
  X power, root;  // the root is 0 where the power is exact
  EBB_HD X value() const { return power; }
  EBB_HD X times(X a) const { return root == 0 ? a * power : a * root * root; }
};
/// Powers of exponents beyond it are taken as squares.
template <class X>
constexpr X kSafeExponent = sizeof(X) == sizeof(float) ? 80 : 700;
/// A factor as good as infinity beside such a power, whose product is no NaN.
template <class X>
constexpr X kFar = 1e6;

/// e^x; that of several numbers in a register stands in kernel/cpu/lane_exp.h.
template <class X>
  requires std::is_arithmetic_v<X>
EBB_HD Exponential<X> exponential(X x) {
  return {exp(x), abs(x) <= kSafeExponent<X> ? X(0) : exp(x / 2)};
}
/// 2^x.
template <class X>
  requires std::is_arithmetic_v<X>
EBB_HD Exponential<X> exponential2(X x) {
  return {exp2(x), abs(x) <= kSafeExponent<X> ? X(0) : exp2(x / 2)};
}

/// a / (1 + e^-x), which is a e^x where e^-x is infinite; 0 for a = x = -infinity.
template <class X>
  requires std::is_arithmetic_v<X>
EBB_HD X sigmoid_times(X a, X x) {
  if (x <= -kSafeExponent<X>) return (a < -kFar<X> ? -kFar<X> : a) * exp(x);
  return a / (exp(-x) + 1);
}
/// 1 / (1 + e^-x).
template <class X>
  requires std::is_arithmetic_v<X>
EBB_HD X sigmoid(X x) {
  return sigmoid_times(X(1), x);
}

/// sigmoid(x) and its complement, sigmoid(-x), by one exponential.
template <class X>
  requires std::is_arithmetic_v<X>
EBB_HD void logistic_pair(X x, X& share, X& rest) {
  const bool far = x <= -kSafeExponent<X>;
  const X e = exp(far ? x : -x);
  share = far ? e : 1 / (e + 1);
  rest = far ? X(1) : e * share;
}
template <class X>
struct LogisticPair {
  X share, rest;
  EBB_HD explicit LogisticPair(const X& x) {
    if constexpr (requires { x.sigmoid(); })
      share = sigmoid(x), rest = sigmoid(-x);
    else
      logistic_pair(x, share, rest);
  }
};

/// log(sigmoid(x)), without overflow on either side.
template <class X>
EBB_HD X log_sigmoid(const X& x) {
  return where(x > 0, constant<X>(0), x) - log1p(exp(-abs(x)));
}

}  // namespace ebb::ops
