// Formulas of exponentials, logarithms, roots, square and cube.
#pragma once

#include "ops/elementwise/formulas/arithmetic.h"

// Default visibility, because plugins fill the kernel slots that are named after these types.
#pragma GCC visibility push(default)
namespace ebb::ops {

constexpr double kLn2 = 0.69314718055994530942, kLn10 = 2.30258509299404568402;

struct Exp : Unary {
  static constexpr char kName[] = "exp";
  static constexpr Saves kSaves = Saves::result;
  template <class X>
  EBB_HD X value(const X& x) const {
    return exp(x);
  }
  template <class X>
  EBB_HD X derivative(const X& y) const {
    return y;
  }
};

struct Exp2 : Unary {
  static constexpr char kName[] = "exp2";
  static constexpr bool kHasLate = true;
  template <class X>
  EBB_HD X value(const X& x) const {
    return exp2(x);
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    return exponential2(x).times(g * constant<X>(kLn2));
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    return gradient_of(*this, g * kLn2, x);
  }
  template <class X>
  X late(const X& g, const X& y) const {
    return g * (y * kLn2);
  }
};

struct Expm1 : Unary {
  static constexpr char kName[] = "expm1";
  static constexpr bool kHasLate = true;
  template <class X>
  EBB_HD X value(const X& x) const {
    return expm1(x);
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    return exp(x);
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    return g * exp(x);
  }
  template <class X>
  X late(const X& g, const X& y) const {
    return g * (y + 1);
  }
};

struct Log : Unary {
  static constexpr char kName[] = "log";
  template <class X>
  EBB_HD X value(const X& x) const {
    return log(x);
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    return g / x;
  }
};

struct Log2 : Unary {
  static constexpr char kName[] = "log2";
  template <class X>
  EBB_HD X value(const X& x) const {
    return log2(x);
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    return g / (x * constant<X>(kLn2));
  }
};

struct Log10 : Unary {
  static constexpr char kName[] = "log10";
  template <class X>
  EBB_HD X value(const X& x) const {
    return log10(x);
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    return g * constant<X>(1 / kLn10) / x;
  }
};

struct Log1p : Unary {
  static constexpr char kName[] = "log1p", kNode[] = "Log1PBackward0";
  template <class X>
  EBB_HD X value(const X& x) const {
    return log1p(x);
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    return g / (x + 1);
  }
};

struct Sqrt : PlainUnary {
  static constexpr char kName[] = "sqrt";
  static constexpr bool kHasLate = true;
  template <class X>
  EBB_HD X value(const X& x) const {
    return sqrt(x);
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    return g * constant<X>(0.5) / sqrt(x);
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    return gradient_of(*this, g * -0.5 / x, x);
  }
  template <class X>
  X late(const X& g, const X& y) const {
    return g / (y * 2);
  }
};

struct Rsqrt : PlainUnary {
  static constexpr char kName[] = "rsqrt";
  static constexpr bool kHasLate = true;
  template <class X>
  EBB_HD X value(const X& x) const {
    return rsqrt(x);
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    return g * constant<X>(-0.5) / sqrt(x) / x;
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    return gradient_of(*this, g * -1.5 / x, x);
  }
  template <class X>
  X late(const X& g, const X& y) const {
    return g * (cube(y) * -0.5);
  }
};

struct Reciprocal : PlainUnary {
  static constexpr char kName[] = "reciprocal";
  static constexpr bool kHasLate = true;
  template <class X>
  EBB_HD X value(const X& x) const {
    return 1 / x;
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    const X inverse = 1 / x;
    return -g * inverse * inverse;
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    return gradient_of(*this, g * -2 / x, x);
  }
  template <class X>
  X late(const X& g, const X& y) const {
    return -g * (y * y);
  }
};

/// x^2, also for integers.
struct Square : PlainUnary {
  static constexpr char kName[] = "square", kNode[] = "PowBackward0";
  static constexpr Types kTypes = Types::all;
  template <class X>
  EBB_HD X value(const X& x) const {
    return Mul().value(x, x);
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    return x * 2;
  }
};

/// x^3. Its gradient is the gradient of pow.
struct Cube : PlainUnary {
  static constexpr char kName[] = "pow";
  template <class X>
  EBB_HD X value(const X& x) const {
    return cube(x);
  }
};

using ExponentialOps = List<Exp, Exp2, Expm1, Log, Log2, Log10, Log1p, Sqrt, Rsqrt, Reciprocal, Square, Cube>;

}  // namespace ebb::ops
#pragma GCC visibility pop
