// Smooth activations: tanh, sigmoid, silu, gelu, elu, selu, celu, mish, softplus, logsigmoid and others.
#include "ops/elementwise/formulas/activations.h"

#include "ops/common/autocast.h"
#include "ops/common/fused_activation.h"
#include "ops/elementwise/record_formula.h"

namespace ebb {

using namespace ops;

namespace {

bool is_approximate(std::string_view approximate) {
  EBB_CHECK(approximate == "none" || approximate == "tanh",
            "gelu: approximate argument must be either none or tanh, got '", approximate, "'.");
  return approximate == "tanh";
}

constexpr Elu kSelu{{}, 1.6732632423543772848170429916717, 1.0507009873554804934193349852946};

Elu elu_op(const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
  return {{}, alpha.to_double(), scale.to_double(), input_scale.to_double()};
}
Elu celu_op(const Scalar& alpha) {
  EBB_CHECK(!alpha.equal(0), "celu: ZeroDivisionError: alpha cannot be 0 for CELU.");
  const double a = alpha.to_double(), inverse = 1 / a;
  return {{}, a, 1, inverse, std::fma(-inverse, a, 1) / a};
}
struct CeluRule : FormulaRule<Elu> {
  static std::string name() { return "CeluBackward0"; }
};

}  // namespace

Variable tanh(const Variable& self) { return unary<Tanh>(self); }
Variable& tanh_(const Variable& self) { return unary_inplace<Tanh>(self); }
Variable sigmoid(const Variable& self) { return unary<Sigmoid>(self); }
Variable& sigmoid_(const Variable& self) { return unary_inplace<Sigmoid>(self); }
Variable silu(const Variable& self) { return unary<Silu>(self); }
Variable& silu_(const Variable& self) { return unary_inplace<Silu>(self); }
Variable mish(const Variable& self) { return unary<Mish>(self); }
Variable& mish_(const Variable& self) { return unary_inplace<Mish>(self); }
Variable log_sigmoid(const Variable& self) { return unary<LogSigmoid>(self); }
Variable softsign(const Variable& self) { return unary<Softsign>(self); }
Variable tanhshrink(const Variable& self) { return unary<Tanhshrink>(self); }
Variable softplus(const Variable& self, const Scalar& beta, const Scalar& threshold) {
  EBB_AUTOCAST(softplus, self, beta, threshold);
  return unary(self, Softplus{{}, beta.to_double(), threshold.to_double()});
}

Variable gelu(const Variable& self, std::string_view approximate) {
  return is_approximate(approximate) ? unary<GeluTanh>(self) : unary<Gelu>(self);
}
Variable ops::recorded_gelu_tanh(const Variable& self, NdArray result) {
  Variable out(std::move(result));
  if (autograd::records(self)) record_unary(self, out, FormulaRule<GeluTanh>{});
  return out;
}
Variable& gelu_(const Variable& self, std::string_view approximate) {
  return is_approximate(approximate) ? unary_inplace<GeluTanh>(self) : unary_inplace<Gelu>(self);
}

Variable elu(const Variable& self, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
  return unary(self, elu_op(alpha, scale, input_scale));
}
Variable& elu_(const Variable& self, const Scalar& alpha, const Scalar& scale, const Scalar& input_scale) {
  return unary_inplace(self, elu_op(alpha, scale, input_scale));
}
Variable selu(const Variable& self) { return unary(self, kSelu); }
Variable& selu_(const Variable& self) { return unary_inplace(self, kSelu); }
Variable celu(const Variable& self, const Scalar& alpha) {
  const Elu op = celu_op(alpha);
  return run_unary(self, op, CeluRule{op});
}
Variable& celu_(const Variable& self, const Scalar& alpha) {
  const Elu op = celu_op(alpha);
  return run_unary_inplace(self, op, CeluRule{op});
}

}  // namespace ebb
