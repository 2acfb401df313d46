// Trigonometric and hyperbolic functions and their inverses.
#pragma once

#include "ops/elementwise/formula.h"

// Visible, because the kernel slots named after these types are what plugins fill.
#pragma GCC visibility push(default)
namespace ebb::ops {

struct Sin : Unary {
  static constexpr char kName[] = "sin";
  template <class X>
  EBB_HD X value(const X& x) const {
    return sin(x);
  }
  template <class X>
  EBB_HD X slope(const X& x) const {
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
  EBB_HD X slope(const X& x) const {
    return -sin(x);
  }
};

struct Tan : Unary {
  static constexpr char kName[] = "tan";
  static constexpr Keep kKeep = Keep::result;
  template <class X>
  EBB_HD X value(const X& x) const {
    return tan(x);
  }
  template <class X>
  EBB_HD X slope(const X& y) const {
    return y * y + 1;
  }
};

struct Asin : Unary {
  static constexpr char kName[] = "asin";
  template <class X>
  EBB_HD X value(const X& x) const {
    return asin(x);
  }
  template <class X>
  EBB_HD X slope(const X& x) const {
    return rsqrt(1 - x * x);
  }
};

struct Acos : Unary {
  static constexpr char kName[] = "acos";
  template <class X>
  EBB_HD X value(const X& x) const {
    return acos(x);
  }
  template <class X>
  EBB_HD X slope(const X& x) const {
    return -rsqrt(1 - x * x);
  }
};

struct Atan : Unary {
  static constexpr char kName[] = "atan";
  template <class X>
  EBB_HD X value(const X& x) const {
    return atan(x);
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    return g / (x * x + 1);
  }
};

struct Sinh : Unary {
  static constexpr char kName[] = "sinh";
  template <class X>
  EBB_HD X value(const X& x) const {
    return sinh(x);
  }
  template <class X>
  EBB_HD X slope(const X& x) const {
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
  EBB_HD X slope(const X& x) const {
    return sinh(x);
  }
};

struct Asinh : Unary {
  static constexpr char kName[] = "asinh";
  template <class X>
  EBB_HD X value(const X& x) const {
    return asinh(x);
  }
  template <class X>
  EBB_HD X slope(const X& x) const {
    return rsqrt(x * x + 1);
  }
};

struct Acosh : Unary {
  static constexpr char kName[] = "acosh";
  template <class X>
  EBB_HD X value(const X& x) const {
    return acosh(x);
  }
  template <class X>
  EBB_HD X slope(const X& x) const {
    return rsqrt(x - 1) * rsqrt(x + 1);
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
    return g / (1 - x * x);
  }
};

using TrigonometricOps = List<Sin, Cos, Tan, Asin, Acos, Atan, Sinh, Cosh, Asinh, Acosh, Atanh>;

}  // namespace ebb::ops
#pragma GCC visibility pop
