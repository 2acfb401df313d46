// What formulas are written with, whatever carries the numbers: a number, several in a register (cpu::Lanes),
// or a Variable. Functions of the last two are found by their argument; here stand those of plain numbers.
#pragma once

#include <ebb/core/scalar.h>

#include <cmath>
#include <tuple>
#include <type_traits>

#include "kernel/convert.h"

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
requires std::is_arithmetic_v<A> && std::is_arithmetic_v<B> EBB_HD auto where(bool condition, A a, B b) {
  return condition ? a : b;
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

/// 1 / (1 + e^-x).
template <class X>
EBB_HD X sigmoid(const X& x) {
  return 1 / (1 + exp(-x));
}

/// log(sigmoid(x)), without overflow on either side.
template <class X>
EBB_HD X log_sigmoid(const X& x) {
  return where(x > 0, constant<X>(0), x) - log1p(exp(-abs(x)));
}

}  // namespace ebb::ops
