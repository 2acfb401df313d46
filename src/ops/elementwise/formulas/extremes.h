// The larger and the smaller of two.
#pragma once

#include "ops/elementwise/formula.h"

// Visible, because the kernel slots named after these types are what plugins fill.
#pragma GCC visibility push(default)
namespace ebb::ops {

/// Half of the gradient each at a tie, none to the loser; NaN ties with nothing and loses nothing.
template <class X, class Condition>
EBB_HD X winner_gradient(const X& g, const Condition& tie, const Condition& lost) {
  return where(lost, constant<X>(0), where(tie, g / 2, g));
}

struct Maximum : Binary {
  static constexpr char kName[] = "maximum";
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  static constexpr bool kRoundsOnce = true;
  template <class T>
  EBB_HD T value(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a > b || a != a ? a : b;  // NaN wins
    else
      return a > b ? a : b;
  }
  template <class X>
  EBB_HD X gradient_a(const X& g, const Kept<X>& k) const {
    return winner_gradient(g, k.a == k.b, k.a < k.b);
  }
  template <class X>
  EBB_HD X gradient_b(const X& g, const Kept<X>& k) const {
    return winner_gradient(g, k.a == k.b, k.a > k.b);
  }
};

struct Minimum : Binary {
  static constexpr char kName[] = "minimum";
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  static constexpr bool kRoundsOnce = true;
  template <class T>
  EBB_HD T value(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a < b || a != a ? a : b;
    else
      return a < b ? a : b;
  }
  template <class X>
  EBB_HD X gradient_a(const X& g, const Kept<X>& k) const {
    return winner_gradient(g, k.a == k.b, k.a > k.b);
  }
  template <class X>
  EBB_HD X gradient_b(const X& g, const Kept<X>& k) const {
    return winner_gradient(g, k.a == k.b, k.a < k.b);
  }
};

/// NaN loses.
struct Fmax : Binary {
  static constexpr char kName[] = "fmax";
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  static constexpr bool kRoundsOnce = true;
  template <class T>
  EBB_HD T value(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a > b || b != b ? a : b;
    else
      return a > b ? a : b;
  }
  template <class X>
  EBB_HD X gradient_a(const X& g, const Kept<X>& k) const {
    return winner_gradient(g, k.a == k.b, (k.a < k.b) | ((k.a != k.a) & (k.b == k.b)));
  }
  template <class X>
  EBB_HD X gradient_b(const X& g, const Kept<X>& k) const {
    return winner_gradient(g, k.a == k.b, (k.a > k.b) | (k.b != k.b));
  }
};

struct Fmin : Binary {
  static constexpr char kName[] = "fmin";
  static constexpr unsigned kUsesA = kA | kB, kUsesB = kA | kB;
  static constexpr bool kRoundsOnce = true;
  template <class T>
  EBB_HD T value(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a < b || b != b ? a : b;
    else
      return a < b ? a : b;
  }
  template <class X>
  EBB_HD X gradient_a(const X& g, const Kept<X>& k) const {
    return winner_gradient(g, k.a == k.b, (k.a > k.b) | ((k.a != k.a) & (k.b == k.b)));
  }
  template <class X>
  EBB_HD X gradient_b(const X& g, const Kept<X>& k) const {
    return winner_gradient(g, k.a == k.b, (k.a < k.b) | (k.b != k.b));
  }
};

using ExtremeOps = List<Maximum, Minimum, Fmax, Fmin>;

}  // namespace ebb::ops
#pragma GCC visibility pop
