// Formulas of division with rounding, fmod and remainder.
#pragma once

#include "ops/elementwise/formulas/arithmetic.h"
#include "ops/elementwise/formulas/rare.h"

// Default visibility, because plugins fill the kernel slots that are named after these types.
#pragma GCC visibility push(default)
namespace ebb::ops {

/// Division, rounded towards zero. The caller rejects integer divisors of zero.
struct DivTrunc : Binary {
  static constexpr char kName[] = "div";
  static constexpr Types kTypes = Types::numeric;
  template <class T>
  EBB_HD T value(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if constexpr (std::is_signed_v<T>)
        if (b == T(-1)) return Sub().value(T(0), a);  // computes -a, which wraps for the smallest integer
      return static_cast<T>(a / b);
    } else {
      return std::trunc(a / b);
    }
  }
};

/// The quotient of floating numbers, rounded towards zero, and the remainder, both without signs. Both are
/// exact if the quotient has no more digits than the numbers. The rounding of a / b makes the integer part at
/// most 1 too large, and then the remainder is negative. The fma is exact, because its result is smaller than
/// a and b and a multiple of their last places.
template <class X>
struct WholeDivision {
  X ratio, quotient, rest;  // the ratio a / b has a sign and a fraction
  EBB_HD WholeDivision(const X& a, const X& b) : ratio(a / b) {
    using std::trunc, std::fma;
    const X zero = constant<X>(0), size = abs(a), step = abs(b), whole = trunc(abs(ratio));
    const X left = fma(-whole, step, size);
    const auto beyond = left < zero;
    quotient = where(beyond, whole - 1, whole);
    rest = where(quotient == zero, size, where(beyond, left + step, left));  // b may be infinite
  }
  /// Returns whether the quotient has too many digits.
  EBB_HD auto is_large() const { return abs(ratio) >= constant<X>(carries_floats<X>() ? 0x1p24 : 0x1p53); }
};

/// The quotient rounded down, like // in Python. A large quotient of floating numbers is computed from
/// fmod(), so that it is consistent with remainder().
struct DivFloor : Binary {
  static constexpr char kName[] = "floor_divide";
  static constexpr Types kTypes = Types::numeric;
  static constexpr Run kRun = Run::lanes;
  template <class X>
  EBB_HD X value(const X& a, const X& b) const {
    if constexpr (std::is_integral_v<X>) {
      const X q = DivTrunc().value(a, b);
      if constexpr (std::is_signed_v<X>)
        if ((a < 0) != (b < 0) && b != X(-1) && q * b != a) return static_cast<X>(q - 1);
      return q;
    } else {
      const X zero = constant<X>(0);
      const WholeDivision<X> division(a, b);
      const auto opposite = (a < zero) ^ (b < zero);
      const X size = where(opposite & (division.rest > zero), division.quotient + 1, division.quotient);
      const X near = where(size == zero, division.ratio * 0, where(opposite, -size, size));
      const auto large = division.is_large();
      if (!any<X>(large)) return near;
      return where(large, one_by_one(a, b, [](auto x, auto y) { return far(x, y); }), near);
    }
  }

 private:
  template <class T>
  EBB_HD [[gnu::noinline]] static T far(T a, T b) {
    if (b == 0) return a / b;
    const T mod = std::fmod(a, b);
    T q = (a - mod) / b;
    if (mod != 0 && (b < 0) != (mod < 0)) q -= 1;
    T down = std::floor(q);
    if (q - down > T(0.5)) down += 1;
    return down;
  }
};

/// fmod: the remainder with the sign of the dividend.
struct Fmod : Binary {
  static constexpr char kName[] = "fmod";
  static constexpr Types kTypes = Types::numeric;
  static constexpr Run kRun = Run::lanes;
  template <class X>
  EBB_HD X value(const X& a, const X& b) const {
    if constexpr (std::is_integral_v<X>) {
      if constexpr (std::is_signed_v<X>)
        if (b == X(-1)) return 0;
      return static_cast<X>(a % b);
    } else {
      const WholeDivision<X> division(a, b);
      const X near = where(division.quotient == constant<X>(0), a,
                           where(a < constant<X>(0), -division.rest, division.rest));
      const auto large = division.is_large();
      if (!any<X>(large)) return near;
      return where(large, one_by_one(a, b, [](auto x, auto y) { return std::fmod(x, y); }), near);
    }
  }
};

/// remainder: the remainder with the sign of the divisor.
struct Remainder : Binary {
  static constexpr char kName[] = "remainder";
  static constexpr Types kTypes = Types::numeric;
  static constexpr Run kRun = Run::lanes;
  template <class X>
  EBB_HD X value(const X& a, const X& b) const {
    const X r = Fmod().value(a, b);
    if constexpr (std::is_integral_v<X>) {
      return r != 0 && (b < 0) != (r < 0) ? static_cast<X>(r + b) : r;
    } else {
      const X zero = constant<X>(0);
      return where(((r < zero) & (b > zero)) | ((r > zero) & (b < zero)), r + b, r);
    }
  }
};

using DivisionOps = List<DivTrunc, DivFloor, Fmod, Remainder>;

}  // namespace ebb::ops
#pragma GCC visibility pop
