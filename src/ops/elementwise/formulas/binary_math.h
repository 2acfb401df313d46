// Formulas of atan2, hypot, logaddexp, logaddexp2, xlogy, copysign and heaviside.
#pragma once

#include "ops/elementwise/formulas/exponential.h"
#include "ops/elementwise/formulas/extremes.h"
#include "ops/elementwise/formulas/plane.h"
#include "ops/elementwise/formulas/power.h"
#include "ops/elementwise/formulas/predicate.h"
#include "ops/elementwise/formulas/smooth.h"

// Default visibility, because plugins fill the kernel slots that are named after these types.
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
  template <class T>
  EBB_HD T value(T a, T b) const {
    if (a == b && IsInf().value(a)) return a;
    const T high = Maximum().value(a, b);
    return high + std::log1p(std::exp(-std::fabs(a - b)));
  }
};

struct LogAddExp2 : Binary {
  static constexpr char kName[] = "logaddexp2";
  static constexpr Types kTypes = Types::floating;
  static constexpr Run kRun = Run::calls;
  template <class T>
  EBB_HD T value(T a, T b) const {
    if (a == b && IsInf().value(a)) return a;
    constexpr T inverse_ln2 = T(1.4426950408889634074);
    return Maximum().value(a, b) + std::log1p(std::exp2(-std::fabs(a - b))) * inverse_ln2;
  }
};

/// The derivative of logaddexp or logaddexp2 by the first operand, sigmoid((a - b) log(base)), or the
/// derivative of that (`second`). The exponential amplifies the rounding error of its argument, so the error
/// is corrected.
struct LogAddExpDerivative : Binary {
  static constexpr char kName[] = "logaddexp_derivative";
  static constexpr Types kTypes = Types::floating;
  static constexpr Run kRun = Run::lanes;
  bool base_two = false, second = false;
  template <class X>
  EBB_HD X value(const X& a, const X& b) const {
    constexpr double kLn2Rest = 2.3190468138462996e-17;
    const X ln2 = constant<X>(kLn2), ln2_rest = constant_rest<X>(kLn2, kLn2Rest);
    X x = a - b;
    const X back = x - a;
    X rest = (a - (x - back)) - (b + back);
    if (base_two) {
      const X scaled = x * ln2;
      rest = fma(x, ln2, -scaled) + x * ln2_rest + rest * ln2;
      x = scaled;
    }
    rest = where(abs(rest) < 1, rest, constant<X>(0));  // if it is not small, the derivative is 0 or 1
    const X share = sigmoid(x);
    if (!second) return fma(rest * (1 - share), share, share);
    const X turned = rest * (1 - share * 2);
    return logistic_gradient(base_two ? ln2 + (ln2_rest + ln2 * turned) : 1 + turned, x);
  }
};

/// xlogy: a log(b), 0 if a is 0 (unless b is NaN).
template <class T>
  requires std::is_floating_point_v<T>
EBB_HD T xlogy(T a, T b) {
  if (b != b) return b;
  return a == 0 ? T(0) : a * std::log(b);
}

/// xlogy. If a = 0 and b <= 0, the gradient of a is 0, because the function is 0 for all such b.
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

/// heaviside: 0 below zero, 1 above, b at zero.
struct Heaviside : Binary {
  static constexpr char kName[] = "heaviside";
  template <class T>
  EBB_HD T value(T a, T b) const {
    return a == T(0) ? b : static_cast<T>(a > T(0));
  }
};

using BinaryMathOps = List<Pow, PowDerivative, PowBaseSlope, Ldexp, Atan2, Hypot, PlaneDerivative, LogAddExp,
                           LogAddExp2, LogAddExpDerivative, Xlogy, CopySign, Heaviside>;

}  // namespace ebb::ops
#pragma GCC visibility pop
