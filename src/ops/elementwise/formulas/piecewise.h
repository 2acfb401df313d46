// Formulas of piecewise linear activations and clamp. Where the derivative is 0, the gradient is 0 even if g
// is infinite or NaN.
#pragma once

#include "ops/elementwise/formula.h"

// Default visibility, because plugins fill the kernel slots that are named after these types.
#pragma GCC visibility push(default)
namespace ebb::ops {

/// relu: max(x, 0). NaN stays NaN.
struct Relu : PlainUnary {
  static constexpr char kName[] = "relu", kBackward[] = "threshold_backward";
  static constexpr Types kTypes = Types::numeric;
  static constexpr Saves kSaves = Saves::result;
  static constexpr bool kStraight = true;
  template <class X>
  EBB_HD X value(const X& x) const {
    return where(x < X(0), X(0), x);
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& y) const {
    return where(y <= 0, constant<X>(0), g);
  }
};

/// threshold: `other` if x <= threshold, else x.
struct Threshold : PlainUnary {
  static constexpr char kName[] = "threshold";
  static constexpr Types kTypes = Types::numeric;
  static constexpr bool kStraight = true;
  Number threshold, other;
  template <class X>
  EBB_HD X value(const X& x) const {
    return where(x <= constant<X>(threshold), constant<X>(other), x);
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    return where(x <= constant<X>(threshold), constant<X>(0), g);
  }
};

/// hardtanh: min(max(x, low), high), so that `high` is the result if low > high. NaN stays NaN.
struct Hardtanh : PlainUnary {
  static constexpr char kName[] = "hardtanh";
  static constexpr Types kTypes = Types::numeric;
  Number low, high;
  template <class X>
  EBB_HD X value(const X& x) const {
    const X raised = where(x < constant<X>(low), constant<X>(low), x);
    return where(raised > constant<X>(high), constant<X>(high), raised);
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    return where((x <= constant<X>(low)) | (x >= constant<X>(high)), constant<X>(0), g);
  }
};

/// clamp: min(max(x, low), high) with the bounds that exist. NaN stays NaN. The gradient is g only strictly
/// between the bounds, as in torch 2.15.
struct Clamp : PlainUnary {
  static constexpr char kName[] = "clamp";
  static constexpr Types kTypes = Types::all;
  Number low, high;
  bool has_low = false, has_high = false;
  template <class X>
  EBB_HD X value(X x) const {
    if (has_low) x = where(x < constant<X>(low), constant<X>(low), x);
    if (has_high) x = where(x > constant<X>(high), constant<X>(high), x);
    return x;
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    X passed = g;
    if (has_low) passed = where(x > constant<X>(low), passed, constant<X>(0));
    if (has_high) passed = where(x < constant<X>(high), passed, constant<X>(0));
    return passed;
  }
};

struct PlainActivation : PlainUnary {
  static constexpr Types kTypes = Types::strict_floating;
};

struct LeakyRelu : PlainActivation {
  static constexpr char kName[] = "leaky_relu";
  double negative_slope = 0.01;
  template <class X>
  EBB_HD X value(const X& x) const {
    return where(x > 0, x, x * constant<X>(negative_slope));
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    return where(x > 0, g, g * constant<X>(negative_slope));
  }
};

/// prelu: leaky_relu, whose negative slope is an operand.
struct Prelu : Binary {
  static constexpr char kName[] = "prelu";
  static constexpr Types kTypes = Types::strict_floating;
  template <class T>
  EBB_HD T value(T x, T slope) const {
    return where(x > 0, x, x * slope);
  }
};

struct Hardsigmoid : PlainActivation {
  static constexpr char kName[] = "hardsigmoid";
  template <class X>
  EBB_HD X value(const X& x) const {
    const X y = x + 3;
    return where(y < 0, constant<X>(0), where(y > 6, constant<X>(6), y)) / 6;
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    return where((x > -3) & (x < 3), g * constant<X>(1.0 / 6), constant<X>(0));
  }
};

/// hardswish: x hardsigmoid(x). Its derivative is discontinuous at the bounds: it is 0 at -3 and 1 at 3.
struct Hardswish : PlainActivation {
  static constexpr char kName[] = "hardswish";
  template <class X>
  EBB_HD X value(const X& x) const {
    const X y = x + 3;
    return where(y < 0, constant<X>(0), x * (where(y > 6, constant<X>(6), y) / 6));
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    const X inner = g * (bounded(x) / 3 + constant<X>(0.5));
    return where(x <= -3, constant<X>(0), where(x < 3, inner, g));
  }

 private:
  // Clamps x if it is a Variable. The second derivative multiplies zeros by the value that where() discards,
  // so this value must be finite.
  template <class X>
  EBB_HD static X bounded(const X& x) {
    if constexpr (requires { hardtanh(x, -3, 3); })
      return hardtanh(x, -3, 3);
    else
      return x;
  }
};

/// Base of hardshrink and softshrink, whose gradient is 0 within [-lambda, lambda].
template <class Op>
struct Shrink : PlainActivation {
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    const double lambda = static_cast<const Op&>(*this).lambda;
    return where((x >= constant<X>(-lambda)) & (x <= constant<X>(lambda)), constant<X>(0), g);
  }
};
struct Hardshrink : Shrink<Hardshrink> {
  static constexpr char kName[] = "hardshrink";
  double lambda = 0.5;
  template <class X>
  EBB_HD X value(const X& x) const {
    return gradient(x, x);
  }
};
struct Softshrink : Shrink<Softshrink> {
  static constexpr char kName[] = "softshrink";
  double lambda = 0.5;
  template <class X>
  EBB_HD X value(const X& x) const {
    const auto bound = constant<X>(lambda);
    const X moved = where(x > bound, x - bound, x + bound);
    return where((x >= -bound) & (x <= bound), constant<X>(0), moved);
  }
};

using PiecewiseOps =
    List<Relu, Threshold, Hardtanh, Clamp, LeakyRelu, Prelu, Hardsigmoid, Hardswish, Hardshrink, Softshrink>;

}  // namespace ebb::ops
#pragma GCC visibility pop
