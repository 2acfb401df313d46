// Activations. Smooth: tanh, sigmoid, silu, gelu, elu, selu, celu, mish, softplus, logsigmoid and others.
// Piecewise linear: relu, threshold, hardtanh, leaky_relu, prelu, hardsigmoid, hardswish, hardshrink,
// softshrink. Also glu (gated linear unit).
#include "ops/elementwise/formulas/activations.h"

#include <ebb/autograd/record.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/shape.h>

#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/common/fused_activation.h"
#include "ops/elementwise/formulas/piecewise.h"
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

static void check_supported(const char* op, const Variable& x) {
  EBB_CHECK(x.dtype() != kBool, op, ": Boolean inputs not supported; convert the tensor first.");
}

// Returns the dtype of hardtanh's limits: Long for integer tensors, otherwise the tensor's dtype.
static DType limits_dtype(const Variable& x) { return is_integral(x.dtype()) ? kLong : x.dtype(); }

static void check_ends(const char* op, DType dtype, const Scalar& a, const Scalar& b) {
  check_fits(op, a, dtype);
  check_fits(op, b, dtype);
}

Variable relu(const Variable& self) {
  check_supported("relu", self);
  return unary<Relu>(self);
}
Variable ops::recorded_relu(const Variable& self, NdArray result) {
  Variable out(std::move(result));
  if (autograd::records(self)) record_unary(self, out, FormulaRule<Relu>{});
  return out;
}
Variable& relu_(const Variable& self) {
  check_supported("relu_", self);
  return unary_inplace<Relu>(self);
}
Variable threshold(const Variable& self, const Scalar& threshold, const Scalar& value) {
  check_ends("threshold", self.dtype(), threshold, value);
  return unary(self, Threshold{{}, threshold, value});
}
Variable& threshold_(const Variable& self, const Scalar& threshold, const Scalar& value) {
  check_ends("threshold_", self.dtype(), threshold, value);
  return unary_inplace(self, Threshold{{}, threshold, value});
}
Variable hardtanh(const Variable& self, const Scalar& min_val, const Scalar& max_val) {
  check_supported("hardtanh", self);
  check_ends("hardtanh", limits_dtype(self), min_val, max_val);
  return unary(self, Hardtanh{{}, min_val, max_val});
}
Variable& hardtanh_(const Variable& self, const Scalar& min_val, const Scalar& max_val) {
  check_supported("hardtanh_", self);
  check_ends("hardtanh_", limits_dtype(self), min_val, max_val);
  return unary_inplace(self, Hardtanh{{}, min_val, max_val});
}
Variable relu6(const Variable& self) { return hardtanh(self, 0, 6); }
Variable& relu6_(const Variable& self) { return hardtanh_(self, 0, 6); }
Variable leaky_relu(const Variable& self, const Scalar& negative_slope) {
  return unary(self, LeakyRelu{{}, negative_slope.to_double()});
}
Variable& leaky_relu_(const Variable& self, const Scalar& negative_slope) {
  return unary_inplace(self, LeakyRelu{{}, negative_slope.to_double()});
}
Variable hardsigmoid(const Variable& self) { return unary<Hardsigmoid>(self); }
Variable& hardsigmoid_(const Variable& self) { return unary_inplace<Hardsigmoid>(self); }
Variable hardswish(const Variable& self) { return unary<Hardswish>(self); }
Variable& hardswish_(const Variable& self) { return unary_inplace<Hardswish>(self); }
Variable hardshrink(const Variable& self, const Scalar& lambd) {
  return unary(self, Hardshrink{{}, lambd.to_double()});
}
Variable softshrink(const Variable& self, const Scalar& lambd) {
  const double most = largest_of(self.dtype());
  EBB_CHECK(lambd.to_double() >= 0 && lambd.to_double() <= most, "softshrink: lambda must be in range [0, ",
            most, "] for input dtype ", self.dtype(), ", but found ", lambd, ".");
  return unary(self, Softshrink{{}, lambd.to_double()});
}

namespace {

// Reshapes a weight with one element per channel so that it broadcasts along dimension 1.
Variable along_channels(const Variable& weight, const Variable& x) {
  if (weight.numel() == 1 || x.dim() < 2) return reshape(weight, {});
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(x.dim()), 1);
  sizes[1] = weight.numel();
  return reshape(weight, sizes);
}

// The node of prelu, whose negative slope is a parameter.
struct PreluNode final : autograd::Node {
  autograd::SavedVariable x{this}, weight{this};
  std::string name() const override { return "PreluBackward0"; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    const Variable self = x.unpack(), w = weight.unpack(), &g = grads[0];
    autograd::GradList out;
    if (needs(0))
      out.push_back(where(self > 0, g, g * along_channels(w, self)));
    else
      out.emplace_back();
    if (needs(1)) {
      const Variable for_all = where(self > 0, 0, g * self);
      const Variable placed = along_channels(w, self);
      out.push_back(reshape(sum_to_size(for_all, placed.sizes()), w.sizes()));
    } else {
      out.emplace_back();
    }
    return out;
  }
};

}  // namespace

Variable prelu(const Variable& self, const Variable& weight) {
  EBB_AUTOCAST(prelu, self, weight);
  EBB_CHECK(self.defined() && weight.defined(), "prelu: expected two tensors, got an undefined one.");
  check_same_dtype("prelu", self, weight);
  EBB_CHECK(weight.dim() <= 1, "prelu: Expected `weight` to be a scalar or 1D tensor, but got ",
            weight.sizes(), ". Use .flatten().");
  EBB_CHECK(self.dim() > 0 || weight.numel() == 1, "prelu: Not allow zero-dim input tensor with ",
            weight.numel(), " weights. Give one weight.");
  const std::int64_t channels = self.dim() < 2 ? 1 : self.size(1);
  EBB_CHECK(weight.numel() == 1 || weight.numel() == channels,
            "prelu: Mismatch of parameter numbers and input channel size. Found parameter numbers = ",
            weight.numel(), " and channel size = ", channels, ". Give one weight, or one for each channel.");
  Variable out;
  {
    const NoGradGuard quiet;
    out = run_plain<Prelu>(self, along_channels(weight, self));
  }
  if (autograd::records(self, weight)) {
    auto node = autograd::make_node<PreluNode>(self, weight);
    node->x.save(self);
    node->weight.save(weight);
    autograd::set_history(out, node);
  }
  return out;
}

namespace {

// The node of glu, which is composed of views and products and recorded as one node.
struct GluBackward : autograd::Node {
  autograd::SavedVariable self{this};
  std::int64_t dim = 0;
  std::string name() const override { return "GluBackward0"; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    const Variable x = self.unpack();
    const std::int64_t half = x.size(dim) / 2;
    const Variable gate = narrow(x, dim, half, half), value = narrow(x, dim, 0, half);
    return {cat({grads[0] * sigmoid(gate), ops::gradient_of(ops::Sigmoid(), grads[0] * value, gate)}, dim)};
  }
};

}  // namespace

Variable glu(const Variable& self, std::int64_t dim) {
  ops::common_device("glu", self);
  EBB_CHECK(is_floating(self.dtype()), "glu: expected a floating-point tensor, got ", self.dtype(),
            ". Convert it with .to(ebb::kFloat).");
  EBB_CHECK(self.dim() > 0, "glu: does not support 0-dimensional tensors; unsqueeze() it first.");
  dim = wrap_dim("glu", dim, self.dim());
  EBB_CHECK(self.size(dim) % 2 == 0, "glu: Halving dimension must be even, but dimension ", dim, " is size ",
            self.size(dim), " in shape ", self.sizes(), ".");
  const std::int64_t half = self.size(dim) / 2;
  Variable out;
  {
    NoGradGuard no_grad;
    out = narrow(self, dim, 0, half) * sigmoid(narrow(self, dim, half, half));
  }
  if (autograd::records(self)) {
    auto node = autograd::make_node<GluBackward>(self);
    node->self.save(self);
    node->dim = dim;
    autograd::set_history(out, node);
  }
  return out;
}

}  // namespace ebb
