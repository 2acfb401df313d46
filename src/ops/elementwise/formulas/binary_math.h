// Powers, angles and sums of logarithms of two operands.
#pragma once

#include "ops/elementwise/formulas/arithmetic.h"
#include "ops/elementwise/formulas/extremes.h"
#include "ops/elementwise/formulas/predicate.h"

// Visible, because the kernel slots named after these types are what plugins fill.
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

struct Atan2 : Binary {
  static constexpr char kName[] = "atan2";
  static constexpr Types kTypes = Types::floating;
  static constexpr Run kRun = Run::calls;
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  template <class T>
  EBB_HD T value(T a, T b) const {
    return std::atan2(a, b);
  }
  template <class X>
  EBB_HD X gradient_a(const X& g, const Kept<X>& k) const {
    return over_square(g * k.b, k);
  }
  template <class X>
  EBB_HD X gradient_b(const X& g, const Kept<X>& k) const {
    return over_square(-g * k.a, k);
  }

 private:
  // By the square of the distance from the origin; 0 there.
  template <class X>
  EBB_HD static X over_square(const X& x, const Kept<X>& k) {
    const X square = k.a * k.a + k.b * k.b;
    return where(square == 0, constant<X>(0), x / square);
  }
};

struct Hypot : Binary {
  static constexpr char kName[] = "hypot";
  static constexpr Types kTypes = Types::floating;
  static constexpr Run kRun = Run::calls;
  static constexpr unsigned kUsesA = kA | kOut, kUsesB = kB | kOut;
  template <class T>
  EBB_HD T value(T a, T b) const {
    return std::hypot(a, b);
  }
  template <class X>
  EBB_HD X gradient_a(const X& g, const Kept<X>& k) const {
    return g * (k.a / k.out);
  }
  template <class X>
  EBB_HD X gradient_b(const X& g, const Kept<X>& k) const {
    return g * (k.b / k.out);
  }
};

struct LogAddExp : Binary {
  static constexpr char kName[] = "logaddexp";
  static constexpr Types kTypes = Types::floating;
  static constexpr Run kRun = Run::calls;
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  template <class T>
  EBB_HD T value(T a, T b) const {
    if (a == b && IsInf().value(a)) return a;
    const T high = Maximum().value(a, b);
    return high + std::log1p(std::exp(-std::fabs(a - b)));
  }
  template <class X>
  EBB_HD X gradient_a(const X& g, const Kept<X>& k) const {
    return g / (exp(k.b - k.a) + 1);
  }
  template <class X>
  EBB_HD X gradient_b(const X& g, const Kept<X>& k) const {
    return g / (exp(k.a - k.b) + 1);
  }
};

struct LogAddExp2 : Binary {
  static constexpr char kName[] = "logaddexp2";
  static constexpr Types kTypes = Types::floating;
  static constexpr Run kRun = Run::calls;
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  template <class T>
  EBB_HD T value(T a, T b) const {
    if (a == b && IsInf().value(a)) return a;
    constexpr T inverse_ln2 = T(1.4426950408889634074);
    return Maximum().value(a, b) + std::log1p(std::exp2(-std::fabs(a - b))) * inverse_ln2;
  }
  template <class X>
  EBB_HD X gradient_a(const X& g, const Kept<X>& k) const {
    return g / (exp2(k.b - k.a) + 1);
  }
  template <class X>
  EBB_HD X gradient_b(const X& g, const Kept<X>& k) const {
    return g / (exp2(k.a - k.b) + 1);
  }
};

/// a log(b), 0 where a is 0 (unless b is NaN).
template <class T>
requires std::is_floating_point_v<T> EBB_HD T xlogy(T a, T b) {
  if (b != b) return b;
  return a == 0 ? T(0) : a * std::log(b);
}

/// Where a = 0 and b <= 0 it is 0 all around, and so is the gradient of a.
struct Xlogy : Binary {
  static constexpr char kName[] = "xlogy";
  static constexpr Types kTypes = Types::floating;
  static constexpr Run kRun = Run::calls;
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  template <class T>
  EBB_HD T value(T a, T b) const {
    return xlogy(a, b);
  }
  template <class X>
  EBB_HD X gradient_a(const X& g, const Kept<X>& k) const {
    return where((k.a == 0) & (k.b <= 0), constant<X>(0), xlogy(g, k.b));
  }
  template <class X>
  EBB_HD X gradient_b(const X& g, const Kept<X>& k) const {
    return g * k.a / k.b;
  }
};

struct CopySign : Binary {
  static constexpr char kName[] = "copysign";
  static constexpr Types kTypes = Types::floating;
  template <class T>
  EBB_HD T value(T a, T b) const {
    return std::copysign(a, b);
  }
};

/// 0 below zero, 1 above, b at zero.
struct Heaviside : Binary {
  static constexpr char kName[] = "heaviside";
  template <class T>
  EBB_HD T value(T a, T b) const {
    return a == T(0) ? b : static_cast<T>(a > T(0));
  }
};

using BinaryMathOps = List<Pow, Atan2, Hypot, LogAddExp, LogAddExp2, Xlogy, CopySign, Heaviside>;

}  // namespace ebb::ops
#pragma GCC visibility pop
