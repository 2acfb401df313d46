// Formulas of trigonometric and hyperbolic functions and their inverses.
#pragma once

#include "ops/elementwise/formula.h"

// Default visibility, because plugins fill the kernel slots that are named after these types.
#pragma GCC visibility push(default)
namespace ebb::ops {

struct Sin : Unary {
  static constexpr char kName[] = "sin";
  template <class X>
  EBB_HD X value(const X& x) const {
    return sin(x);
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    return cos(x);
  }
};

struct Cos : Unary {
  static constexpr char kName[] = "cos";
  template <class X>
  EBB_HD X value(const X& x) const {
    return cos(x);
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    return -sin(x);
  }
};

struct Tan : Unary {
  static constexpr char kName[] = "tan";
  static constexpr bool kHasLate = true;
  template <class X>
  EBB_HD X value(const X& x) const {
    return tan(x);
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    const X y = tan(x);
    return y * y + 1;
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    return gradient_of(*this, g * tan(x) * 2, x);
  }
  template <class X>
  X late(const X& g, const X& y) const {
    return g * (y * y + 1);
  }
};

/// Returns 1 - x^2, accurate near -1 and 1.
template <class X>
EBB_HD X one_minus_square(const X& x) {
  return (1 - x) * (1 + x);
}

struct Asin : Unary {
  static constexpr char kName[] = "asin";
  template <class X>
  EBB_HD X value(const X& x) const {
    return asin(x);
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    return rsqrt(one_minus_square(x));
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    const X rest = one_minus_square(x);
    return g * (x / (rest * sqrt(rest)));
  }
};

struct Acos : Unary {
  static constexpr char kName[] = "acos";
  template <class X>
  EBB_HD X value(const X& x) const {
    return acos(x);
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    return -Asin().derivative(x);
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    return -Asin().second_derivative(g, x);
  }
};

/// Returns whether x^2, given as `square`, has overflowed.
template <class X>
EBB_HD auto is_beyond(const X& square) {
  return square == constant<X>(static_cast<double>(__builtin_inff()));
}

struct Atan : Unary {
  static constexpr char kName[] = "atan";
  template <class X>
  EBB_HD X value(const X& x) const {
    return atan(x);
  }
  /// The derivative 1 / (1 + x^2), or (1/x)^2 if x^2 overflows.
  template <class X>
  EBB_HD X derivative(const X& x) const {
    const X square = x * x + 1, inverse = 1 / where(is_beyond(square), x, square);
    return where(is_beyond(square), inverse * inverse, inverse);
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    const X square = x * x + 1;
    return g * where(is_beyond(square), constant<X>(0), x * -2 / square / square);
  }
};

struct Sinh : Unary {
  static constexpr char kName[] = "sinh";
  template <class X>
  EBB_HD X value(const X& x) const {
    return sinh(x);
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    return cosh(x);
  }
};

struct Cosh : Unary {
  static constexpr char kName[] = "cosh";
  template <class X>
  EBB_HD X value(const X& x) const {
    return cosh(x);
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    return sinh(x);
  }
};

/// asinh. Its derivative is 1 / sqrt(1 + x^2), or 1 / |x| if x^2 overflows.
struct Asinh : Unary {
  static constexpr char kName[] = "asinh";
  template <class X>
  EBB_HD X value(const X& x) const {
    return asinh(x);
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    const X square = x * x + 1;
    return 1 / where(is_beyond(square), abs(x), sqrt(square));
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    const X square = x * x + 1;
    return g * (where(is_beyond(square), -1 / x, -x / square) * derivative(x));
  }
};

/// acosh. Its derivative is 1 / sqrt((x - 1) (x + 1)), or 1 / x if the product overflows.
struct Acosh : Unary {
  static constexpr char kName[] = "acosh";
  template <class X>
  EBB_HD X value(const X& x) const {
    return acosh(x);
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    const X square = product(x);
    return 1 / where(is_beyond(square), x, sqrt(square));
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    const X square = product(x);
    return g * (where(is_beyond(square), -1 / x, -x / square) * derivative(x));
  }

 private:
  // Returns (x - 1) (x + 1) in the domain x >= 1. For other x the result is negative, so that the derivative
  // is NaN.
  template <class X>
  EBB_HD static X product(const X& x) {
    return (x - 1) * (abs(x) + 1);
  }
};

struct Atanh : Unary {
  static constexpr char kName[] = "atanh";
  template <class X>
  EBB_HD X value(const X& x) const {
    return atanh(x);
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    return g / one_minus_square(x);
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    const X rest = one_minus_square(x);
    return g * (x * 2 / rest / rest);
  }
};

using TrigonometricOps = List<Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Asinh, Acosh, Atanh>;

}  // namespace ebb::ops
#pragma GCC visibility pop
