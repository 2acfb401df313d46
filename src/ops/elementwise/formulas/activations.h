// Formulas of smooth activations: tanh, sigmoid, elu, gelu, silu, mish, softplus, log_sigmoid, softsign,
// tanhshrink.
#pragma once

#include "ops/elementwise/formulas/smooth.h"

// Default visibility, because plugins fill the kernel slots that are named after these types.
#pragma GCC visibility push(default)
namespace ebb::ops {

using std::tanh;

struct Tanh : Unary {
  static constexpr char kName[] = "tanh";
  static constexpr bool kHasLate = true;
  template <class X>
  EBB_HD X value(const X& x) const {
    return tanh(x);
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    return logistic_gradient(g * 4, x * 2);
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    return gradient_of(*this, g * tanh(x) * -2, x);
  }
  template <class X>
  X late(const X& g, const X& y) const {
    return g * (1 - y * y);
  }
};

/// Sigmoid: 1 / (1 + e^-x).
struct Sigmoid : Unary {
  static constexpr char kName[] = "sigmoid";
  static constexpr bool kHasLate = true;
  template <class X>
  EBB_HD X value(const X& x) const {
    return sigmoid(x);
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    return logistic_gradient(g, x);
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    return gradient_of(*this, -g * tanh(x * 0.5), x);
  }
  template <class X>
  X late(const X& g, const X& y) const {
    return g * ((1 - y) * y);
  }
};

/// Base of activations, which are not defined for integers.
struct Activation : Unary {
  static constexpr Types kTypes = Types::strict_floating;
};

/// elu, selu and celu: scale x for x > 0, and scale alpha (e^(input_scale x) - 1) for x <= 0.
/// `input_scale_rest` is the rounding error of input_scale: the exact factor is input_scale +
/// input_scale_rest.
struct Elu : Activation {
  static constexpr char kName[] = "elu";
  double alpha = 1, scale = 1, input_scale = 1, input_scale_rest = 0;
  template <class X>
  EBB_HD X value(const X& x) const {
    const X below = expm1(x * constant<X>(input_scale)) * constant<X>(alpha * scale);
    return where(x <= 0, below, x * constant<X>(scale));
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    const X scaled = x * constant<X>(input_scale);
    X below = g * constant<X>(alpha * scale * input_scale);
    if (input_scale != 1) {
      // Corrects the rounding error of the exponent.
      const X inside = bounded(x, 2000);
      const X rest = inside * constant_rest<X>(input_scale, input_scale_rest);
      below = fma(below, fma(inside, constant<X>(input_scale), -(inside * constant<X>(input_scale))) + rest,
                  below);
    }
    return where(x <= 0, exponential(scaled).times(below), g * constant<X>(scale));
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    return gradient_of(*this, where(x < 0, g * input_scale, 0), x);
  }
};

/// Phi(x), the normal distribution function, for gelu's second derivative.
struct NormalCdf : Activation {
  static constexpr char kName[] = "ndtr";
  template <class X>
  EBB_HD X value(const X& x) const {
    return normal_cdf_times(X(1), x);
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    return normal_gradient(g, x);
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    return gradient_of(*this, -g * bounded(x, 40), x);
  }
};

/// gelu: x Phi(x), with the normal distribution function Phi.
struct Gelu : Activation {
  static constexpr char kName[] = "gelu";
  template <class X>
  EBB_HD X value(const X& x) const {
    return normal_cdf_times(x, x);
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    const X inside = bounded(x, 40);
    return exponential(inside * inside * constant<X>(-0.5))
               .times(inside * constant<X>(0.39894228040143267794)) +
           normal_cdf_times(X(1), x);
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    // turn = 2 - x^2, exact also near sqrt(2) = kRoot + kRest.
    constexpr double kRoot = 1.41421353816986083984375, kRest = 2.4203234208957939e-8;
    const X inside = bounded(x, 40), turn = ((kRoot - inside) + kRest) * ((inside + kRoot) + kRest);
    return gradient_of(NormalCdf(), g * turn, x);
  }
};

/// sigmoid(2 u) with u = sqrt(2 / pi) (x + 0.044715 x^3). gelu's tanh form is x times this factor.
struct GeluTanhFactor : Activation {
  static constexpr char kName[] = "gelu_share";
  static constexpr int kBound = 30;  // beyond it the value is 0 or 1
  static constexpr double kLinear = 1.5957691216057308, kLinearRest = -9.9693088091109203e-17;
  static constexpr double kCubic = 0.07135481627260025, kCubicRest = -6.1751499181553155e-19;

  /// Returns 2 u.
  template <class X>
  EBB_HD static X argument(const X& x) {
    return x * (x * x * constant<X>(kCubic) + constant<X>(kLinear));
  }
  template <class X>
  EBB_HD static X argument_derivative(const X& x) {
    return x * x * constant<X>(3 * kCubic) + constant<X>(kLinear);
  }
  template <class X>
  EBB_HD X value(const X& x) const {
    return sigmoid(argument(x));
  }
  /// Returns g times the derivative. The rounding error of the argument 2 u grows with the argument, so it is
  /// corrected.
  template <class X>
  EBB_HD X gradient(const X& g, const X& far) const {
    const X x = bounded(far, kBound), linear = constant<X>(kLinear), cubic = constant<X>(kCubic);
    const X square = x * x, product = square * cubic, sum = product + linear, added = sum - product;
    const X rest = (product - (sum - added)) + (linear - added) + fma(square, cubic, -product) +
                   fma(x, x, -square) * cubic + square * constant_rest<X>(kCubic, kCubicRest) +
                   constant_rest<X>(kLinear, kLinearRest);
    const X twice_u = x * sum, taken = fma(x, sum, -twice_u) + x * rest;
    const auto power = exponential(-abs(twice_u));
    const X e = power.value(), factor = where(x < 0, taken, -taken) * (1 - e) / (e + 1) + 1;
    return power.times(g * argument_derivative(x) * factor / fma(e, e + 2, constant<X>(1)));
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    return gradient_of(*this, g * growth(bounded(x, kBound)), x);
  }
  /// Returns the derivative of the logarithm of the first derivative.
  template <class X>
  static X growth(const X& x) {
    const X inner = argument_derivative(x);
    return x * (6 * kCubic) / inner - inner * tanh(argument(x) * 0.5);
  }
};

/// gelu's tanh form: x (1 + tanh u) / 2 = x sigmoid(2 u).
struct GeluTanh : Activation {
  static constexpr char kName[] = "gelu";
  template <class X>
  EBB_HD X value(const X& x) const {
    return sigmoid_times(x, GeluTanhFactor::argument(x));
  }
  template <class X>
  EBB_HD X derivative(const X& far) const {
    const X x = bounded(far, GeluTanhFactor::kBound);
    const LogisticPair<X> at(GeluTanhFactor::argument(x));
    return at.share * (x * at.rest * GeluTanhFactor::argument_derivative(x) + 1);
  }
  template <class X>
  X second_derivative(const X& g, const X& far) const {
    const X x = bounded(far, GeluTanhFactor::kBound);
    return gradient_of(GeluTanhFactor(), g * (x * GeluTanhFactor::growth(x) + 2), far);
  }
};

/// silu: x sigmoid(x).
struct Silu : Activation {
  static constexpr char kName[] = "silu";
  template <class X>
  EBB_HD X value(const X& x) const {
    return sigmoid_times(x, x);
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    const LogisticPair<X> at(x);
    return at.share * (bounded(x, 1000) * at.rest + 1);
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    const X inside = bounded(x, 1000);
    // turn + 2 = 2 - x tanh(x / 2). For large |x| the terms are arranged so that little cancels.
    const X turn =
        where(x < 0, inside - inside * sigmoid(inside) * 2, inside * sigmoid(-inside) * 2 - inside);
    return gradient_of(Sigmoid(), g * (turn + 2), x);
  }
};

/// The terms of tanh(softplus(x)) = n / d and of its derivative 4 (1 + e) e rest / d^2, where e = e^-|x|.
template <class X>
struct MishTerms {
  X e, n, d, rest;
  EBB_HD explicit MishTerms(const X& x) : e(exp(-abs(x))) {
    n = where(x < 0, e * (e + 2), e * 2 + 1);
    d = where(x < 0, fma(e, e + 2, constant<X>(2)), fma(e * 2, e + 1, constant<X>(1)));
    rest = where(x < 0, constant<X>(1), e);
  }
};

/// tanh(softplus(x)). mish is x times this factor.
struct MishFactor : Activation {
  static constexpr char kName[] = "mish_share";
  template <class X>
  EBB_HD X value(const X& x) const {
    const MishTerms<X> at(x);
    return at.n / at.d;
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    // d = (1 + e)^2 + rest^2. `taken` and `d_taken` are the rounding errors of 1 + e and of d.
    const auto power = exponential(-abs(x));
    const X e = power.value(), rest = where(x < 0, constant<X>(1), e), one = e + 1, taken = e - (one - 1);
    const X square = one * one, other = rest * rest, d = square + other;
    const X d_taken =
        (other - (d - square)) + fma(one, one, -square) + one * taken * 2 + fma(rest, rest, -other);
    return power.times(g * 4 * one * rest / (d * d) * (taken / one - d_taken * 2 / d + 1));
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    return gradient_of(*this, g * growth(x), x);
  }
  /// Returns the derivative of the logarithm of the first derivative.
  template <class X>
  static X growth(const X& x) {
    const X share = sigmoid(x), rest = sigmoid(-x);
    return share + 1 - share * 4 / (rest * rest + 1);
  }
};

/// mish: x tanh(softplus(x)).
struct Mish : Activation {
  static constexpr char kName[] = "mish";
  template <class X>
  EBB_HD X value(const X& x) const {
    const MishTerms<X> at(x);
    return where(x < -1000, constant<X>(-1000), x) * at.n / at.d;
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    const MishTerms<X> at(x);
    return (at.n + bounded(x, 1000) * (at.e * at.rest * 4) * (at.e + 1) / at.d) / at.d;
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    return gradient_of(MishFactor(), g * (bounded(x, 1000) * MishFactor::growth(x) + 2), x);
  }
};

/// softplus: log(1 + e^(beta x)) / beta, or x itself if beta x > threshold.
struct Softplus : Activation {
  static constexpr char kName[] = "softplus";
  double beta = 1, threshold = 20;
  template <class X>
  EBB_HD X value(const X& x) const {
    const X scaled = x * constant<X>(beta);
    if (threshold < 80)
      return where(scaled > constant<X>(threshold), x, log1p(exp(scaled)) / constant<X>(beta));
    const X soft = where(scaled > 0, scaled, constant<X>(0)) + log1p(exp(-abs(scaled)));
    return where(scaled > constant<X>(threshold), x, soft / constant<X>(beta));
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    const X scaled = x * constant<X>(beta);
    return where(scaled > constant<X>(threshold), constant<X>(1), sigmoid(scaled));
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    const X scaled = x * beta;
    return gradient_of(Sigmoid(), where(scaled > threshold, 0, g * beta), scaled);
  }
};

/// log_sigmoid: log(sigmoid(x)), without overflow for large |x|.
struct LogSigmoid : Activation {
  static constexpr char kName[] = "log_sigmoid";
  template <class X>
  EBB_HD X value(const X& x) const {
    return log_sigmoid(x);
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    return sigmoid(-x);
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    return gradient_of(Sigmoid(), -g, x);
  }
};

/// softsign: x / (1 + |x|).
struct Softsign : PlainUnary {
  static constexpr char kName[] = "softsign", kNode[] = "DivBackward0";
  template <class X>
  EBB_HD X value(const X& x) const {
    const X inside = bounded(x, 1e30);
    return inside / (abs(inside) + 1);
  }
  template <class X>
  EBB_HD X gradient(const X& g, const X& x) const {
    const X d = abs(x) + 1;
    return g / d / d;
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    return gradient_of(*this, g * sign(x) * -2 / (abs(x) + 1), x);
  }
};

/// tanhshrink: x - tanh(x). Near 0 it is a quotient of polynomials whose terms are all positive.
struct Tanhshrink : Unary {
  static constexpr char kName[] = "tanhshrink", kNode[] = "SubBackward0";
  template <class X>
  EBB_HD X value(const X& x) const {
    const X y = x * x;
    const X n = ((y * 44 + 12870) * y + 810810) * y + 11486475;
    const X d = (((y * 45 + 13860) * y + 945945) * y + 16216200) * y + constant<X>(34459425);
    return where(abs(x) < 1, x * (y * (n / d)), x - tanh(x));
  }
  template <class X>
  EBB_HD X derivative(const X& x) const {
    const X y = tanh(x);
    return y * y;
  }
  template <class X>
  X second_derivative(const X& g, const X& x) const {
    return gradient_of(Tanh(), g * tanh(x) * 2, x);
  }
};

using ActivationOps = List<Tanh, Sigmoid, Elu, NormalCdf, Gelu, GeluTanhFactor, GeluTanh, Silu, MishFactor,
                           Mish, Softplus, LogSigmoid, Softsign, Tanhshrink>;

}  // namespace ebb::ops
#pragma GCC visibility pop
