// Formulas of frexp and nextafter.
#pragma once

#include "ops/elementwise/formula.h"

// Default visibility, because plugins fill the kernel slots that are named after these types.
#pragma GCC visibility push(default)
namespace ebb::ops {

/// The mantissa m of x = m 2^e, with 1/2 <= |m| < 1. It is x itself if x is 0, infinite or NaN.
struct FrexpMantissa : Unary {
  static constexpr char kName[] = "frexp";
  static constexpr Types kTypes = Types::strict_floating;
  static constexpr Run kRun = Run::calls;
  template <class T>
  EBB_HD T value(T x) const {
    int exponent = 0;
    return x - x == 0 ? std::frexp(x, &exponent) : x;
  }
};

/// The exponent e of x = m 2^e, as a floating value. It is 0 if x is 0, infinite or NaN.
struct FrexpExponent : Unary {
  static constexpr char kName[] = "frexp";
  static constexpr Types kTypes = Types::strict_floating;
  static constexpr Run kRun = Run::calls;
  template <class T>
  EBB_HD T value(T x) const {
    int exponent = 0;
    if (x - x == 0) std::frexp(x, &exponent);
    return static_cast<T>(exponent);
  }
};

/// nextafter: the representable number next to a in the direction of b. 16-bit types compute in float, so
/// they need parameters: `digits` is the number of digits of their mantissa, and `least` is the exponent of
/// their smallest normal number.
struct NextAfter : Binary {
  static constexpr char kName[] = "nextafter";
  static constexpr Types kTypes = Types::strict_floating;
  static constexpr Run kRun = Run::calls;
  int digits = 0, least = 0;
  template <class T>
  EBB_HD T value(T a, T b) const {
    if (digits == 0 || a == b || a != a || b != b) return std::nextafter(a, b);
    if (a == 0) return std::copysign(std::ldexp(T(1), least - digits + 1), b);
    if (a - a != 0)
      return std::copysign(std::ldexp(T(2) - std::ldexp(T(1), 1 - digits), digits == 11 ? 15 : 127), a);
    int exponent = 0;
    const T mantissa = std::frexp(std::fabs(a), &exponent);  // in [1/2, 1)
    const bool inwards = (a > 0) != (b > a);
    const int at = exponent - 1 > least ? exponent - 1 : least;
    // Directly below a power of two, adjacent numbers are half as far apart.
    const int step = at - digits + 1 - (inwards && mantissa == T(0.5) && exponent - 1 > least ? 1 : 0);
    const T by = std::ldexp(T(1), step);
    return b > a ? a + by : a - by;
  }
};

using PartsOps = List<FrexpMantissa, FrexpExponent, NextAfter>;

}  // namespace ebb::ops
#pragma GCC visibility pop
