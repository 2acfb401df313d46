// The parts of floating-point numbers, and their neighbours.
#pragma once

#include "ops/elementwise/formula.h"

// Visible, because the kernel slots named after these types are what plugins fill.
#pragma GCC visibility push(default)
namespace ebb::ops {

/// m of x = m 2^e, 1/2 <= |m| < 1; x itself if it is 0, infinite or NaN.
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

/// Its e, as a floating number; 0 if x is 0, infinite or NaN.
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

/// The number next to a in the direction of b. Of 16-bit types, whose arithmetic is float's: `digits` of the
/// mantissa, and `least`, the exponent of their smallest normal number.
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
    // Below a power of two numbers lie twice as dense.
    const int step = at - digits + 1 - (inwards && mantissa == T(0.5) && exponent - 1 > least ? 1 : 0);
    const T by = std::ldexp(T(1), step);
    return b > a ? a + by : a - by;
  }
};

using PartsOps = List<FrexpMantissa, FrexpExponent, NextAfter>;

}  // namespace ebb::ops
#pragma GCC visibility pop
