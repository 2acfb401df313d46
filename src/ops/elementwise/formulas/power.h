// Formulas of pow, its derivatives, and ldexp.
#pragma once

#include "ops/elementwise/formulas/arithmetic.h"
#include "ops/elementwise/formulas/rare.h"

// Default visibility, because plugins fill the kernel slots that are named after these types.
#pragma GCC visibility push(default)
namespace ebb::ops {

struct Pow : Binary {
  static constexpr char kName[] = "pow";
  static constexpr Run kRun = Run::lanes;
  template <class T>
  EBB_HD T value(T a, T b) const {
    if constexpr (!std::is_integral_v<T>) {
      using std::pow;
      return pow(a, b);
    } else if constexpr (std::is_same_v<T, bool>) {
      return a || !b;
    } else {
      if (b < 0) return a == 1 ? T(1) : a == T(-1) ? (b % 2 ? T(-1) : T(1)) : T(0);
      T r = 1;
      for (; b; b = static_cast<T>(b / 2), a = Mul().value(a, a))
        if (b & 1) r = Mul().value(r, a);
      return r;
    }
  }
};

/// The derivative of a^b of order i = by_base with respect to a and order j = by_exponent with respect to b.
/// It is a^(b - i) times a polynomial p in b and log(a), where p a^b is the j-th derivative of b (b - 1) ...
/// (b - i + 1) a^b with respect to b. At a = b = 0 it is 0, because 0^b is treated as constant for b >= 0.
struct PowDerivative : Binary {
  static constexpr char kName[] = "pow_derivative";
  static constexpr Types kTypes = Types::floating;
  static constexpr Run kRun = Run::lanes;
  static constexpr int kMostOrder = 16;
  int by_base = 1, by_exponent = 0;

  template <class X>
  EBB_HD X value(const X& a, const X& b) const {
    using std::pow;
    if (by_exponent == 0 && by_base == 1) {
      // The common case: the exponent is exact, and the power is neither very small nor very large.
      const X exponent = b - 1, power = pow(a, exponent);
      const auto rare = is_extreme(power) | is_extreme(b) | (abs(exponent + 1 - b) > constant<X>(0));
      return any<X>(rare) ? where(rare, general(a, b), power * b) : power * b;
    }
    return general(a, b);
  }

 private:
  template <class X>
  EBB_HD X general(const X& a, const X& b) const {
    using std::pow, std::trunc;
    const X zero = constant<X>(0), one = constant<X>(1),
            infinity = constant<X>(static_cast<double>(__builtin_inff()));
    // `lost` is the rounding error of the exponent b - order.
    const X order = constant<X>(by_base), exponent = b - order, seen = b - exponent;
    const X lost = where(abs(b) < infinity, (b - (exponent + seen)) + (seen - order), zero);
    X factor = one;
    const bool inexact = any<X>(abs(lost) > zero);
    if (by_exponent > 0 || inexact) {
      const X logarithm = log(abs(a));
      if (inexact) {
        // For |b| > 2^digits, `lost` is an integer; if a is negative, its parity determines the sign. The
        // size of the correction matters only if |a| is next to 1, because for all other |a| the power is
        // infinite or 0.
        const X half = lost * constant<X>(0.5), grown = lost * logarithm;
        const X size = where(abs(grown) < one, exp(grown), one);
        const auto odd = (a < zero) & (trunc(lost) == lost) & (abs(trunc(half) - half) > zero);
        const X nan = constant<X>(quiet_nan<double>());
        factor = where((a < zero) & (abs(trunc(b) - b) > zero), nan, where(odd, -size, size));
      }
      factor = factor * polynomial(b, where(a < zero, constant<X>(quiet_nan<double>()), logarithm));
    } else {
      factor = polynomial(b, one);
    }
    const X power = pow(a, exponent);
    X out = where(factor == zero, zero, power * factor);
    // If the power overflows or is subnormal, `factor` is multiplied by the square root of the power twice,
    // so that the product keeps its digits.
    constexpr double kLeast = carries_floats<X>() ? 0x1p-126 : 0x1p-1022;
    const auto extreme = (abs(power) < constant<X>(kLeast)) | (abs(power) == infinity);
    if (any<X>(extreme)) {
      const X half = pow(abs(a), exponent * constant<X>(0.5));
      const X product = where(half == zero, zero, half * factor * half);
      const auto negative = (power < zero) | (1 / power < zero);
      out = where(extreme & ((factor < zero) | (factor > zero)), where(negative, -product, product), out);
    }
    return where((a == zero) & (b == zero), zero, out);
  }

  template <class X>
  EBB_HD X polynomial(const X& b, const X& logarithm) const {
    // falling[k] is the k-th derivative of b (b - 1) ... (b - by_base + 1) with respect to b. The result is
    // the sum over k of falling[k], times the binomial coefficient of by_exponent and k, times
    // logarithm^(by_exponent - k).
    X falling[kMostOrder + 1];
    for (int k = 0; k <= by_exponent; ++k) falling[k] = constant<X>(k == 0);
    for (int i = 0; i < by_base; ++i) {
      for (int k = by_exponent; k > 0; --k)
        falling[k] = falling[k] * (b - constant<X>(i)) + falling[k - 1] * constant<X>(k);
      falling[0] = falling[0] * (b - constant<X>(i));
    }
    X sum = falling[0];
    double choose = 1;
    for (int k = 1; k <= by_exponent; ++k) {
      choose = choose * (by_exponent - k + 1) / k;
      sum = sum * logarithm;
      if (k <= by_base) sum = sum + falling[k] * constant<X>(choose);
    }
    return sum;
  }
};

/// log(base) base^b, computed from the power base^b and from b.
struct PowBaseDerivative : Binary {
  static constexpr char kName[] = "pow_base_derivative";
  static constexpr Types kTypes = Types::floating;
  static constexpr Run kRun = Run::lanes;
  Number base, logarithm;
  template <class X>
  EBB_HD X value(const X& power, const X& b) const {
    const X factor = constant<X>(logarithm), product = power * factor;
    const auto extreme = is_extreme(power);
    if (!any<X>(extreme)) return product;
    return where(extreme, PowDerivative{{}, 0, 1}.value(constant<X>(base), b), product);
  }
};

/// The derivative of ldexp(a, b) of the given order with respect to b: a 2^b log(2)^order. Neither 2^b nor an
/// intermediate product overflows or underflows unless the result does.
struct Ldexp : Binary {
  static constexpr char kName[] = "ldexp", kNode[] = "MulBackward0";
  static constexpr Types kTypes = Types::floating;
  static constexpr Run kRun = Run::lanes;
  int order = 0;
  template <class X>
  EBB_HD X value(const X& a, const X& b) const {
    double factor = 1;
    for (int i = 0; i < order; ++i) factor *= 0.69314718055994530942;
    const X power = exp2(b), plain = power * a * constant<X>(factor);
    const auto extreme = is_extreme(power) | is_extreme(a);
    if (!any<X>(extreme)) return plain;
    const X slow = one_by_one(a, b, [factor](auto x, auto y) {
      return static_cast<decltype(x)>(scaled(static_cast<double>(x), static_cast<double>(y), factor));
    });
    return where(extreme, slow, plain);
  }

 private:
  EBB_HD [[gnu::noinline]] static double scaled(double a, double b, double factor) {
    if (!(std::fabs(b) < __builtin_inf())) return a * std::exp2(b) * factor;
    // For |b| > 5000 every result is infinite or 0.
    const double within = b > 5000 ? 5000 : b < -5000 ? -5000 : b, whole = std::trunc(within);
    int own = 0;
    const double digits = std::frexp(a, &own);
    return std::ldexp(digits * factor * std::exp2(within - whole), own + static_cast<int>(whole));
  }
};

}  // namespace ebb::ops
#pragma GCC visibility pop
