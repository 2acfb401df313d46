// Smooth activations.
#include <ebb/ops/elementwise.h>

#include "ops/elementwise/activation.h"

namespace ebb {
namespace {

using namespace ops;

template <bool celu>
struct EluRule {
  static constexpr const char* kName = celu ? "CeluBackward0" : "EluBackward0";
  static constexpr Keep kKeep = Keep::input;
  EluSlope s;
  Variable operator()(const Variable& g, const Variable& x) const {
    return slope_gradient(g, x, s, [&] {
      // 0 in the branch not taken, which cannot overflow then, and flat at 0 itself
      const Variable negative = where(x < 0, x, 0);
      const Variable below = g * (exp(negative * s.input_scale) * (s.alpha * s.scale * s.input_scale));
      return where(x <= 0, below, g * s.scale);
    });
  }
};
struct GeluRule {
  static constexpr char kName[] = "GeluBackward0";
  static constexpr Keep kKeep = Keep::input;
  bool tanh_form = false;
  Variable operator()(const Variable& g, const Variable& x) const {
    if (tanh_form) return slope_gradient(g, x, GeluTanhSlope(), [&] { return g * tanh_slope(x); });
    return slope_gradient(g, x, GeluSlope(), [&] {
      const Variable phi = (erf(x * 0.70710678118654752440) + 1) * 0.5;
      return g * (phi + x * exp(x * x * -0.5) * 0.39894228040143267794);
    });
  }
  static Variable tanh_slope(const Variable& x) {
    constexpr double k = 0.79788456080286535588, c = 0.044715;
    const Variable square = x * x;
    const Variable t = tanh((x + square * x * c) * k);
    return (t + 1) * 0.5 + x * 0.5 * (1 - t * t) * ((square * (3 * c) + 1) * k);
  }
};
struct SiluRule {
  static constexpr char kName[] = "SiluBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const {
    return slope_gradient(g, x, SiluSlope(), [&] {
      const Variable s = sigmoid(x);
      return g * (s * (x * (1 - s) + 1));
    });
  }
};
struct MishRule {
  static constexpr char kName[] = "MishBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const {
    return slope_gradient(g, x, MishSlope(), [&] {
      const Variable t = tanh(softplus(x));
      return g * (t + x * sigmoid(x) * (1 - t * t));
    });
  }
};
struct SoftplusRule {
  static constexpr char kName[] = "SoftplusBackward0";
  static constexpr Keep kKeep = Keep::input;
  SoftplusSlope s;
  Variable operator()(const Variable& g, const Variable& x) const {
    return slope_gradient(g, x, s, [&] {
      const Variable scaled = x * s.beta;
      return where(scaled > s.threshold, g, g * sigmoid(scaled));
    });
  }
};
struct LogSigmoidRule {
  static constexpr char kName[] = "LogSigmoidBackward0";
  static constexpr Keep kKeep = Keep::input;
  Variable operator()(const Variable& g, const Variable& x) const {
    return slope_gradient(g, x, LogSigmoidSlope(), [&] { return g * sigmoid(neg(x)); });
  }
};

bool is_tanh_form(std::string_view approximate) {
  EBB_CHECK(approximate == "none" || approximate == "tanh",
            "gelu: approximate argument must be either none or tanh, got '", approximate, "'.");
  return approximate == "tanh";
}

template <bool celu = false>
Variable run_elu(const Variable& x, double alpha, double scale, double input_scale) {
  return run_unary(x, Elu{alpha, scale, input_scale}, EluRule<celu>{{alpha, scale, input_scale}});
}
template <bool celu = false>
Variable& run_elu_inplace(const Variable& x, double alpha, double scale, double input_scale) {
  return run_unary_inplace(x, Elu{alpha, scale, input_scale}, EluRule<celu>{{alpha, scale, input_scale}});
}
constexpr double kSeluAlpha = 1.6732632423543772848170429916717,
                 kSeluScale = 1.0507009873554804934193349852946;

double checked_celu(const Scalar& alpha) {
  EBB_CHECK(!alpha.equal(0), "celu: ZeroDivisionError: alpha cannot be 0 for CELU.");
  return alpha.to_double();
}

}  // namespace

Variable elu(const Variable& self, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
  return run_elu(self, alpha.to_double(), scale.to_double(), input_scale.to_double());
}
Variable& elu_(const Variable& self, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
  return run_elu_inplace(self, alpha.to_double(), scale.to_double(), input_scale.to_double());
}
Variable selu(const Variable& self) { return run_elu(self, kSeluAlpha, kSeluScale, 1); }
Variable& selu_(const Variable& self) { return run_elu_inplace(self, kSeluAlpha, kSeluScale, 1); }
Variable celu(const Variable& self, const Scalar& alpha) {
  const double a = checked_celu(alpha);
  return run_elu<true>(self, a, 1, 1 / a);
}
Variable& celu_(const Variable& self, const Scalar& alpha) {
  const double a = checked_celu(alpha);
  return run_elu_inplace<true>(self, a, 1, 1 / a);
}
Variable gelu(const Variable& self, std::string_view approximate) {
  if (is_tanh_form(approximate)) return run_unary(self, GeluTanh(), GeluRule{true});
  return run_unary(self, Gelu(), GeluRule{});
}
Variable& gelu_(const Variable& self, std::string_view approximate) {
  if (is_tanh_form(approximate)) return run_unary_inplace(self, GeluTanh(), GeluRule{true});
  return run_unary_inplace(self, Gelu(), GeluRule{});
}
Variable silu(const Variable& self) { return run_unary(self, Silu(), SiluRule()); }
Variable& silu_(const Variable& self) { return run_unary_inplace(self, Silu(), SiluRule()); }
Variable mish(const Variable& self) { return run_unary(self, Mish(), MishRule()); }
Variable& mish_(const Variable& self) { return run_unary_inplace(self, Mish(), MishRule()); }
Variable softplus(const Variable& self, const Scalar& beta, const Scalar& threshold) {
  const double b = beta.to_double(), t = threshold.to_double();
  return run_unary(self, Softplus{b, t}, SoftplusRule{{b, t}});
}
Variable softsign(const Variable& self) { return self / (abs(self) + 1); }
Variable tanhshrink(const Variable& self) { return self - tanh(self); }
Variable log_sigmoid(const Variable& self) { return run_unary(self, LogSigmoid(), LogSigmoidRule()); }

}  // namespace ebb
