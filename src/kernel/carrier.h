// Functions that formulas call on their three scalar types, and lists of formulas. The scalar types are plain
// numbers, cpu::Lanes (several numbers in a register), and Variable. This file contains the functions of
// plain numbers. Argument-dependent lookup finds the functions of Lanes and Variable.
#pragma once

#include <ebb/core/scalar.h>

#include "kernel/convert.h"

#include <cmath>
#include <tuple>
#include <type_traits>

namespace ebb::ops {

template <class... Ops>
struct List {};

template <class... Lists>
struct JoinLists;
template <class... A>
struct JoinLists<List<A...>> {
  using type = List<A...>;
};
template <class... A, class... B, class... Rest>
struct JoinLists<List<A...>, List<B...>, Rest...> : JoinLists<List<A..., B...>, Rest...> {};
template <class... Lists>
using Join = typename JoinLists<Lists...>::type;

using ebb::Compute;

using std::abs, std::sqrt, std::exp, std::exp2, std::expm1, std::log, std::log2, std::log10, std::log1p;
using std::sin, std::cos, std::tan, std::asin, std::acos, std::atan;
using std::sinh, std::cosh, std::asinh, std::acosh, std::atanh, std::erf, std::erfc;

/// A Scalar for inner loops. It contains the value as double and as integer, so that loops need no branch on
/// its type.
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

/// Converts a constant to the scalar type of X. This is necessary because a plain 0.5 would convert float
/// expressions to double.
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

/// Selects a or b. At least one of them must be an X, because two constants would give a Variable of the
/// default dtype.
template <class A, class B>
  requires std::is_arithmetic_v<A> && std::is_arithmetic_v<B>
EBB_HD auto where(bool condition, A a, B b) {
  return condition ? a : b;
}

/// The element type of X.
template <class X>
struct ElementOf {
  using type = X;
};
template <class X>
  requires requires { typename X::Element; }
struct ElementOf<X> {
  using type = typename X::Element;
};
/// Returns the low part of a constant: `number` + `rest` minus constant<X>(number).
template <class X>
EBB_HD X constant_rest(double number, double rest) {
  using T = typename ElementOf<X>::type;
  return X(static_cast<T>(number - static_cast<double>(static_cast<T>(number)) + rest));
}

template <class T>
EBB_HD T quiet_nan() {
  return static_cast<T>(__builtin_nanf(""));
}

/// Returns x^3. For a Variable this is a single op.
template <class X>
EBB_HD X cube(const X& x) {
  if constexpr (requires { x.pow(3); })
    return x.pow(3);
  else
    return x * x * x;
}

/// Returns 1 / sqrt(x).
template <class X>
EBB_HD X rsqrt(const X& x) {
  return 1 / sqrt(x);
}

/// A power of e or 2 in a form whose products are accurate even if the power itself overflows or is
/// subnormal.
template <class X>
struct Exponential {
  X power, root;  // the root is 0 if the power itself is accurate
  EBB_HD X value() const { return power; }
  EBB_HD X times(X a) const { return root == 0 ? a * power : a * root * root; }
};
/// The largest exponent for which the power is stored without a square root.
template <class X>
constexpr X kSafeExponent = sizeof(X) == sizeof(float) ? 80 : 700;
/// A large factor that replaces infinity in a product with a power that may be 0, so that the product is not
/// NaN.
template <class X>
constexpr X kFar = 1e6;

/// Returns e^x. The version for Lanes is in kernel/cpu/lane_exp.h.
template <class X>
  requires std::is_arithmetic_v<X>
EBB_HD Exponential<X> exponential(X x) {
  return {exp(x), abs(x) <= kSafeExponent<X> ? X(0) : exp(x / 2)};
}
/// Returns 2^x.
template <class X>
  requires std::is_arithmetic_v<X>
EBB_HD Exponential<X> exponential2(X x) {
  return {exp2(x), abs(x) <= kSafeExponent<X> ? X(0) : exp2(x / 2)};
}

/// Returns a / (1 + e^-x). If e^-x would overflow, returns a e^x; for a = x = -infinity the result is 0.
template <class X>
  requires std::is_arithmetic_v<X>
EBB_HD X sigmoid_times(X a, X x) {
  if (x <= -kSafeExponent<X>) return (a < -kFar<X> ? -kFar<X> : a) * exp(x);
  return a / (exp(-x) + 1);
}
/// Returns 1 / (1 + e^-x).
template <class X>
  requires std::is_arithmetic_v<X>
EBB_HD X sigmoid(X x) {
  return sigmoid_times(X(1), x);
}

/// Computes sigmoid(x) and its complement sigmoid(-x) with one exponential.
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

/// Returns log(sigmoid(x)) without overflow for any x.
template <class X>
EBB_HD X log_sigmoid(const X& x) {
  return where(x > 0, constant<X>(0), x) - log1p(exp(-abs(x)));
}

}  // namespace ebb::ops
