// Formulas of division with rounding, fmod and remainder.
#pragma once

#include "ops/elementwise/formulas/arithmetic.h"

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

/// The quotient rounded down, like // in Python. For floats it is computed from fmod(), so that it is
/// consistent with remainder() and exact for large quotients.
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

/// fmod: the remainder with the sign of the dividend.
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

/// remainder: the remainder with the sign of the divisor.
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
