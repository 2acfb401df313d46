// Formulas of maximum, minimum, fmax and fmin.
#pragma once

#include "ops/elementwise/formula.h"

// Default visibility, because plugins fill the kernel slots that are named after these types.
#pragma GCC visibility push(default)
namespace ebb::ops {

/// Returns the gradient of one operand of a minimum or maximum: 0 if the other operand is the result
/// (`lost`), g / 2 if both are equal (`tie`), otherwise g. For a NaN both conditions are false.
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
      return a > b || a != a ? a : b;  // a NaN operand is the result
    else
      return a > b ? a : b;
  }
  template <class X>
  EBB_HD X gradient_a(const X& g, const SavedValues<X>& k) const {
    return winner_gradient(g, k.a == k.b, k.a < k.b);
  }
  template <class X>
  EBB_HD X gradient_b(const X& g, const SavedValues<X>& k) const {
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
  EBB_HD X gradient_a(const X& g, const SavedValues<X>& k) const {
    return winner_gradient(g, k.a == k.b, k.a > k.b);
  }
  template <class X>
  EBB_HD X gradient_b(const X& g, const SavedValues<X>& k) const {
    return winner_gradient(g, k.a == k.b, k.a < k.b);
  }
};

/// fmax: a NaN is ignored if the other operand is not NaN.
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
  EBB_HD X gradient_a(const X& g, const SavedValues<X>& k) const {
    return winner_gradient(g, k.a == k.b, (k.a < k.b) | ((k.a != k.a) & (k.b == k.b)));
  }
  template <class X>
  EBB_HD X gradient_b(const X& g, const SavedValues<X>& k) const {
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
  EBB_HD X gradient_a(const X& g, const SavedValues<X>& k) const {
    return winner_gradient(g, k.a == k.b, (k.a > k.b) | ((k.a != k.a) & (k.b == k.b)));
  }
  template <class X>
  EBB_HD X gradient_b(const X& g, const SavedValues<X>& k) const {
    return winner_gradient(g, k.a == k.b, (k.a < k.b) | (k.b != k.b));
  }
};

using ExtremeOps = List<Maximum, Minimum, Fmax, Fmin>;

}  // namespace ebb::ops
#pragma GCC visibility pop
