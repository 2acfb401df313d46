// Angles, distances and sums of logarithms of two operands.
#pragma once

#include "ops/elementwise/formulas/exponential.h"
#include "ops/elementwise/formulas/extremes.h"
#include "ops/elementwise/formulas/plane.h"
#include "ops/elementwise/formulas/power.h"
#include "ops/elementwise/formulas/predicate.h"

// Visible, because the kernel slots named after these types are what plugins fill.
#pragma GCC visibility push(default)
namespace ebb::ops {

struct Atan2 : Binary {
  static constexpr char kName[] = "atan2";
  static constexpr Types kTypes = Types::floating;
  static constexpr Run kRun = Run::calls;
  template <class T>
  EBB_HD T value(T a, T b) const {
    return std::atan2(a, b);
  }
};

struct Hypot : Binary {
  static constexpr char kName[] = "hypot";
  static constexpr Types kTypes = Types::floating;
  static constexpr Run kRun = Run::calls;
  template <class T>
  EBB_HD T value(T a, T b) const {
    return std::hypot(a, b);
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
    return g * sigmoid(k.a - k.b);
  }
  template <class X>
  EBB_HD X gradient_b(const X& g, const Kept<X>& k) const {
    return g * sigmoid(k.b - k.a);
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
    return g * sigmoid((k.a - k.b) * constant<X>(kLn2));
  }
  template <class X>
  EBB_HD X gradient_b(const X& g, const Kept<X>& k) const {
    return g * sigmoid((k.b - k.a) * constant<X>(kLn2));
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

using BinaryMathOps = List<Pow, PowDerivative, PowBaseSlope, Ldexp, Atan2, Hypot, PlaneDerivative, LogAddExp,
                           LogAddExp2, Xlogy, CopySign, Heaviside>;

}  // namespace ebb::ops
#pragma GCC visibility pop
