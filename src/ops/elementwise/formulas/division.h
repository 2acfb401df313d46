// Rounded quotients and remainders.
#pragma once

#include "ops/elementwise/formulas/arithmetic.h"

// Visible, because the kernel slots named after these types are what plugins fill.
#pragma GCC visibility push(default)
namespace ebb::ops {

/// Rounds the quotient towards zero. Integer division by zero is refused by the caller.
struct DivTrunc : Binary {
  static constexpr char kName[] = "div";
  static constexpr Types kTypes = Types::numeric;
  template <class T>
  EBB_HD T value(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if constexpr (std::is_signed_v<T>)
        if (b == T(-1)) return Sub().value(T(0), a);  // the smallest integer has no negative: wraps
      return static_cast<T>(a / b);
    } else {
      return std::trunc(a / b);
    }
  }
};

/// Rounds the quotient down, as Python's // does: consistent with the remainder, exact for large quotients.
struct DivFloor : Binary {
  static constexpr char kName[] = "floor_divide";
  static constexpr Types kTypes = Types::numeric;
  template <class T>
  EBB_HD T value(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      const T q = DivTrunc().value(a, b);
      if constexpr (std::is_signed_v<T>)
        if ((a < 0) != (b < 0) && b != T(-1) && q * b != a) return static_cast<T>(q - 1);
      return q;
    } else {
      if (b == 0) return a / b;
      const T mod = std::fmod(a, b);
      T q = (a - mod) / b;
      if (mod != 0 && (b < 0) != (mod < 0)) q -= 1;
      if (q == 0) return std::copysign(T(0), a / b);
      T down = std::floor(q);
      if (q - down > T(0.5)) down += 1;
      return down;
    }
  }
};

/// The remainder with the dividend's sign.
struct Fmod : Binary {
  static constexpr char kName[] = "fmod";
  static constexpr Types kTypes = Types::numeric;
  template <class T>
  EBB_HD T value(T a, T b) const {
    if constexpr (std::is_integral_v<T>) {
      if constexpr (std::is_signed_v<T>)
        if (b == T(-1)) return 0;
      return static_cast<T>(a % b);
    } else {
      return std::fmod(a, b);
    }
  }
};

/// The remainder with the divisor's sign.
struct Remainder : Binary {
  static constexpr char kName[] = "remainder";
  static constexpr Types kTypes = Types::numeric;
  template <class T>
  EBB_HD T value(T a, T b) const {
    T r = Fmod().value(a, b);
    if (r != 0 && ((b < 0) != (r < 0))) r = static_cast<T>(r + b);
    return r;
  }
};

using DivisionOps = List<DivTrunc, DivFloor, Fmod, Remainder>;

}  // namespace ebb::ops
#pragma GCC visibility pop
