// Smooth activations.
#pragma once

#include "ops/elementwise/formula.h"

// Visible, because the kernel slots named after these types are what plugins fill.
#pragma GCC visibility push(default)
namespace ebb::ops {

using std::tanh;

struct Tanh : Unary {
  static constexpr char kName[] = "tanh";
  static constexpr Keep kKeep = Keep::result;
  template <class X>
  EBB_HD X value(const X& x) const {
    return tanh(x);
  }
  template <class X>
  EBB_HD X slope(const X& y) const {
    return 1 - y * y;
  }
  template <class X>
  EBB_HD X bend(const X& y) const {
    return y * -2;
  }
};

/// 1 / (1 + e^-x).
struct Sigmoid : Unary {
  static constexpr char kName[] = "sigmoid";
  static constexpr Keep kKeep = Keep::result;
  template <class X>
  EBB_HD X value(const X& x) const {
    return sigmoid(x);
  }
  template <class X>
  EBB_HD X slope(const X& y) const {
    return (1 - y) * y;
  }
  template <class X>
  EBB_HD X bend(const X& y) const {
    return 1 - y * 2;
  }
};

/// Activations are not defined for integers.
struct Activation : Unary {
  static constexpr Types kTypes = Types::strict_floating;
};

/// scale x above 0, scale alpha (e^(input_scale x) - 1) below: elu, selu and celu.
struct Elu : Activation {
  static constexpr char kName[] = "elu";
  double alpha = 1, scale = 1, input_scale = 1;
  template <class X>
  EBB_HD X value(const X& x) const {
    const X below = expm1(x * constant<X>(input_scale)) * constant<X>(alpha * scale);
    return where(x <= 0, below, x * constant<X>(scale));
  }
  template <class X>
  EBB_HD X slope(const X& x) const {
    const X negative = where(x < 0, x, constant<X>(0));  // in the branch not taken nothing overflows
    const X below = exp(negative * constant<X>(input_scale)) * constant<X>(alpha * scale * input_scale);
    return where(x <= 0, below, constant<X>(scale));
  }
};

/// x Phi(x) with the normal distribution's Phi.
struct Gelu : Activation {
  static constexpr char kName[] = "gelu";
  template <class X>
  EBB_HD X value(const X& x) const {
    return x * constant<X>(0.5) * twice_phi(x);
  }
  template <class X>
  EBB_HD X slope(const X& x) const {
    return twice_phi(x) * constant<X>(0.5) +
           x * exp(x * x * constant<X>(-0.5)) * constant<X>(0.39894228040143267794);
  }

 private:
  template <class X>
  EBB_HD static X twice_phi(const X& x) {
    return erf(x * constant<X>(0.70710678118654752440)) + 1;
  }
};

/// The cheaper form of gelu, x (1 + tanh u) / 2 with u = sqrt(2 / pi) (x + 0.044715 x^3), which is x
/// sigmoid(2 u).
struct GeluTanh : Activation {
  static constexpr char kName[] = "gelu";
  template <class X>
  EBB_HD X value(const X& x) const {
    return x * sigmoid(x * (x * x * constant<X>(kCubic) + 1) * constant<X>(kTwice));
  }
  template <class X>
  EBB_HD X slope(const X& x) const {
    const X square = x * x;
    const X s = sigmoid(x * (square * constant<X>(kCubic) + 1) * constant<X>(kTwice));
    return s + x * (s * (1 - s)) * (square * constant<X>(3 * kCubic) + 1) * constant<X>(kTwice);
  }

 private:
  static constexpr double kCubic = 0.044715, kTwice = 1.59576912160573071176;
};

/// x sigmoid(x).
struct Silu : Activation {
  static constexpr char kName[] = "silu";
  template <class X>
  EBB_HD X value(const X& x) const {
    return x / (1 + exp(-x));
  }
  template <class X>
  EBB_HD X slope(const X& x) const {
    const X s = sigmoid(x);
    return s * (x * (1 - s) + 1);
  }
};

/// x tanh(softplus(x)), where the tangent is n / (n + 2) with n = e^x (e^x + 2): 1 to the last bit from 20
/// on.
struct Mish : Activation {
  static constexpr char kName[] = "mish";
  template <class X>
  EBB_HD X value(const X& x) const {
    return x * tangent(exp(bounded(x)));
  }
  template <class X>
  EBB_HD X slope(const X& x) const {
    const X e = exp(bounded(x)), t = tangent(e);
    return t + x * (e / (e + 1)) * (1 - t * t);
  }

 private:
  template <class X>
  EBB_HD static X bounded(const X& x) {
    return where(x > 20, constant<X>(20), x);
  }
  template <class X>
  EBB_HD static X tangent(const X& e) {
    const X n = e * (e + 2);
    return n / (n + 2);
  }
};

/// log(1 + e^(beta x)) / beta; x itself where beta x > threshold.
struct Softplus : Activation {
  static constexpr char kName[] = "softplus";
  double beta = 1, threshold = 20;
  template <class X>
  EBB_HD X value(const X& x) const {
    const X scaled = x * constant<X>(beta);
    return where(scaled > constant<X>(threshold), x, log1p(exp(scaled)) / constant<X>(beta));
  }
  template <class X>
  EBB_HD X slope(const X& x) const {
    const X scaled = x * constant<X>(beta);
    return where(scaled > constant<X>(threshold), constant<X>(1), sigmoid(scaled));
  }
};

/// log(sigmoid(x)), without overflow on either side.
struct LogSigmoid : Activation {
  static constexpr char kName[] = "log_sigmoid";
  template <class X>
  EBB_HD X value(const X& x) const {
    return log_sigmoid(x);
  }
  template <class X>
  EBB_HD X slope(const X& x) const {
    return sigmoid(-x);
  }
};

using ActivationOps = List<Tanh, Sigmoid, Elu, Gelu, GeluTanh, Silu, Mish, Softplus, LogSigmoid>;

}  // namespace ebb::ops
#pragma GCC visibility pop
