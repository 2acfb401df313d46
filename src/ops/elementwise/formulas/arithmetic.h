// Formulas of addition, subtraction, multiplication and division. Integers wrap.
#pragma once

#include "kernel/arithmetic.h"
#include "ops/elementwise/formula.h"

// Default visibility, because plugins fill the kernel slots that are named after these types.
#pragma GCC visibility push(default)
namespace ebb::ops {

struct Add : Binary {
  static constexpr char kName[] = "add";
  template <class T>
  EBB_HD T value(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a || b;
    else
      return wrapping_add(a, b);
  }
};

/// a + alpha b
struct AddScaled : Binary {
  static constexpr char kName[] = "add";
  Number alpha;
  template <class T>
  EBB_HD T value(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a || (alpha.as<bool>() && b);
    else
      return Add().value(a, wrapping_multiply(alpha.as<T>(), b));
  }
};

struct Sub : Binary {
  static constexpr char kName[] = "sub";
  static constexpr Types kTypes = Types::numeric;
  template <class T>
  EBB_HD T value(T a, T b) const {
    return wrapping(a, b, [](auto x, auto y) { return x - y; });
  }
};

/// b - alpha a
struct RsubScaled : Binary {
  static constexpr char kName[] = "rsub";
  static constexpr Types kTypes = Types::numeric;
  Number alpha;
  template <class T>
  EBB_HD T value(T a, T b) const {
    return Sub().value(b, wrapping_multiply(alpha.as<T>(), a));
  }
};

struct Mul : Binary {
  static constexpr char kName[] = "mul";
  static constexpr unsigned kUsesA = kB, kUsesB = kA;
  static constexpr bool kRoundsOnce = true;
  template <class T>
  EBB_HD T value(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a && b;
    else
      return wrapping_multiply(a, b);
  }
  template <class X>
  EBB_HD X gradient_a(const X& g, const SavedValues<X>& k) const {
    return g * k.b;
  }
  template <class X>
  EBB_HD X gradient_b(const X& g, const SavedValues<X>& k) const {
    return g * k.a;
  }
};

struct Div : Binary {
  static constexpr char kName[] = "div";
  static constexpr Types kTypes = Types::floating;
  static constexpr unsigned kUsesA = kB, kUsesB = kA | kB;
  template <class T>
  EBB_HD T value(T a, T b) const {
    return a / b;
  }
  template <class X>
  EBB_HD X gradient_a(const X& g, const SavedValues<X>& k) const {
    return g / k.b;
  }
  template <class X>
  EBB_HD X gradient_b(const X& g, const SavedValues<X>& k) const {
    return -g * (k.a / k.b / k.b);
  }
};

using ArithmeticOps = List<Add, AddScaled, RsubScaled, Sub, Mul, Div>;

}  // namespace ebb::ops
#pragma GCC visibility pop
