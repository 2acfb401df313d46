// Activation functions and modules: ELU, GELU, ReLU, Softmax and the others.
#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/modules/activation.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/random.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "nn/stateless.h"

namespace ebb::nn {

namespace functional {

Variable elu(Variable input, const ELUFuncOptions& options) {
  return options.inplace() ? ebb::elu_(input, options.alpha()) : ebb::elu(input, options.alpha());
}
Variable selu(Variable input, const SELUFuncOptions& options) {
  return options.inplace() ? ebb::selu_(input) : ebb::selu(input);
}
Variable hardshrink(const Variable& input, const HardshrinkFuncOptions& options) {
  return ebb::hardshrink(input, options.lambda());
}
Variable hardtanh(Variable input, const HardtanhFuncOptions& options) {
  return options.inplace() ? ebb::hardtanh_(input, options.min_val(), options.max_val())
                           : ebb::hardtanh(input, options.min_val(), options.max_val());
}
Variable leaky_relu(Variable input, const LeakyReLUFuncOptions& options) {
  return options.inplace() ? ebb::leaky_relu_(input, options.negative_slope())
                           : ebb::leaky_relu(input, options.negative_slope());
}
Variable logsigmoid(const Variable& input) { return ebb::log_sigmoid(input); }
Variable softmax(const Variable& input, const SoftmaxFuncOptions& options) {
  return ebb::softmax(input, options.dim(), options.dtype());
}
Variable softmin(const Variable& input, const SoftminFuncOptions& options) {
  return ebb::softmax(-input, options.dim(), options.dtype());
}
Variable log_softmax(const Variable& input, const LogSoftmaxFuncOptions& options) {
  return ebb::log_softmax(input, options.dim(), options.dtype());
}

Variable gumbel_softmax(const Variable& logits, const GumbelSoftmaxFuncOptions& options) {
  const Variable noise = -empty_like(logits.detach()).exponential_().log();
  Variable soft = ((logits + noise) / options.tau()).softmax(options.dim());
  if (!options.hard()) return soft;
  const Variable index = std::get<1>(soft.max(options.dim(), true));
  const Variable hard = zeros_like(logits.detach()).scatter_(options.dim(), index, 1.0);
  return hard - soft.detach() + soft;
}

Variable glu(const Variable& input, const GLUFuncOptions& options) {
  EBB_CHECK(
      input.dim() != 0,
      "glu does not support scalars because halving size must be even: give the input a dimension to halve.");
  return ebb::glu(input, options.dim());
}
Variable gelu(const Variable& input, const GELUFuncOptions& options) {
  return ebb::gelu(input, options.approximate());
}
Variable silu(Variable input, const SiLUFuncOptions& options) {
  return options.inplace() ? ebb::silu_(input) : ebb::silu(input);
}
Variable mish(Variable input, const MishFuncOptions& options) {
  return options.inplace() ? ebb::mish_(input) : ebb::mish(input);
}
Variable prelu(const Variable& input, const Variable& weight) { return ebb::prelu(input, weight); }
Variable relu(Variable input, const ReLUFuncOptions& options) {
  return options.inplace() ? ebb::relu_(input) : ebb::relu(input);
}
Variable relu6(Variable input, const ReLU6FuncOptions& options) {
  return options.inplace() ? ebb::relu6_(input) : ebb::relu6(input);
}
Variable rrelu(Variable input, const RReLUFuncOptions& options) {
  const Scalar lower = options.lower(), upper = options.upper();
  return options.inplace() ? ebb::rrelu_(input, lower, upper, options.training())
                           : ebb::rrelu(input, lower, upper, options.training());
}
Variable celu(Variable input, const CELUFuncOptions& options) {
  return options.inplace() ? ebb::celu_(input, options.alpha()) : ebb::celu(input, options.alpha());
}
Variable softplus(const Variable& input, const SoftplusFuncOptions& options) {
  return ebb::softplus(input, options.beta(), options.threshold());
}
Variable softshrink(const Variable& input, const SoftshrinkFuncOptions& options) {
  return ebb::softshrink(input, options.lambda());
}
Variable softsign(const Variable& input) { return ebb::softsign(input); }
Variable tanhshrink(const Variable& input) { return ebb::tanhshrink(input); }
Variable threshold(Variable input, const ThresholdFuncOptions& options) {
  return options.inplace() ? ebb::threshold_(input, options.threshold(), options.value())
                           : ebb::threshold(input, options.threshold(), options.value());
}

Variable hardsigmoid(Variable input, const HardsigmoidFuncOptions& o) {
  return o.inplace() ? ebb::hardsigmoid_(input) : ebb::hardsigmoid(input);
}
Variable hardswish(Variable input, const HardswishFuncOptions& o) {
  return o.inplace() ? ebb::hardswish_(input) : ebb::hardswish(input);
}

}  // namespace functional

namespace F = functional;

static void print(Fields& out, const ELUOptions& o) { out("alpha", o.alpha()).flag("inplace", o.inplace()); }
EBB_STATELESS_AS(F::elu, ELUImpl, ELUOptions, Variable);

static void print(Fields& out, const SELUOptions& o) { out.flag("inplace", o.inplace()); }
EBB_STATELESS_AS(F::selu, SELUImpl, SELUOptions, Variable);

static void print(Fields& out, const HardshrinkOptions& o) { out(o.lambda()); }
EBB_STATELESS_AS(F::hardshrink, HardshrinkImpl, HardshrinkOptions, Variable);

static void print(Fields& out, const HardtanhOptions& o) {
  out("min_val", o.min_val())("max_val", o.max_val()).flag("inplace", o.inplace());
}
static void check(const HardtanhOptions& o) {
  EBB_CHECK(o.max_val() > o.min_val(), "Hardtanh: max_val must be greater than min_val, got ", o.max_val(),
            " and ", o.min_val(), ".");
}
EBB_STATELESS_AS(F::hardtanh, HardtanhImpl, HardtanhOptions, Variable);

static void print(Fields& out, const LeakyReLUOptions& o) {
  out("negative_slope", o.negative_slope()).flag("inplace", o.inplace());
}
EBB_STATELESS_AS(F::leaky_relu, LeakyReLUImpl, LeakyReLUOptions, Variable);

static Variable call(const SoftmaxImpl& m, const Variable& x) { return F::softmax(x, m.options.dim()); }
static void print(Fields& out, const SoftmaxOptions& o) { out("dim", o.dim()); }
EBB_STATELESS(SoftmaxImpl, SoftmaxOptions, Variable);

static Variable call(const SoftminImpl& m, const Variable& x) { return F::softmin(x, m.options.dim()); }
static void print(Fields& out, const SoftminOptions& o) { out("dim", o.dim()); }
EBB_STATELESS(SoftminImpl, SoftminOptions, Variable);

static Variable call(const LogSoftmaxImpl& m, const Variable& x) {
  return F::log_softmax(x, m.options.dim());
}
static void print(Fields& out, const LogSoftmaxOptions& o) { out("dim", o.dim()); }
EBB_STATELESS(LogSoftmaxImpl, LogSoftmaxOptions, Variable);

static void print(Fields& out, const ReLUOptions& o) { out.flag("inplace", o.inplace()); }
EBB_STATELESS_AS(F::relu, ReLUImpl, ReLUOptions, Variable);

static void print(Fields& out, const ReLU6Options& o) { out.flag("inplace", o.inplace()); }
EBB_STATELESS_AS(F::relu6, ReLU6Impl, ReLU6Options, Variable);

static Variable call(const RReLUImpl& m, const Variable& x) {
  const RReLUOptions& o = m.options;
  return F::rrelu(
      x,
      F::RReLUFuncOptions().lower(o.lower()).upper(o.upper()).training(m.is_training()).inplace(o.inplace()));
}
static void print(Fields& out, const RReLUOptions& o) {
  out("lower", o.lower())("upper", o.upper()).flag("inplace", o.inplace());
}
EBB_STATELESS(RReLUImpl, RReLUOptions, Variable);

static void print(Fields& out, const CELUOptions& o) { out("alpha", o.alpha()).flag("inplace", o.inplace()); }
EBB_STATELESS_AS(F::celu, CELUImpl, CELUOptions, Variable);

static void print(Fields& out, const GLUOptions& o) { out("dim", o.dim()); }
EBB_STATELESS_AS(F::glu, GLUImpl, GLUOptions, Variable);
EBB_STATELESS_AS(F::gelu, GELUImpl, GELUOptions, Variable);

static void print(Fields& out, const SoftplusOptions& o) {
  out("beta", o.beta())("threshold", o.threshold());
}
EBB_STATELESS_AS(F::softplus, SoftplusImpl, SoftplusOptions, Variable);

static void print(Fields& out, const SoftshrinkOptions& o) { out(o.lambda()); }
EBB_STATELESS_AS(F::softshrink, SoftshrinkImpl, SoftshrinkOptions, Variable);

static void print(Fields& out, const ThresholdOptions& o) {
  out("threshold", o.threshold())("value", o.value()).flag("inplace", o.inplace());
}
EBB_STATELESS_AS(F::threshold, ThresholdImpl, ThresholdOptions, Variable);

static Variable call(const LogSigmoidImpl&, const Variable& x) { return F::logsigmoid(x); }
EBB_STATELESS(LogSigmoidImpl, detail::NoOptions, Variable);

static void print(Fields& out, const SiLUOptions& o) { out.flag("inplace", o.inplace()); }
EBB_STATELESS_AS(F::silu, SiLUImpl, SiLUOptions, Variable);

static void print(Fields& out, const MishOptions& o) { out.flag("inplace", o.inplace()); }
EBB_STATELESS_AS(F::mish, MishImpl, MishOptions, Variable);

static Variable call(const SigmoidImpl&, const Variable& x) { return ebb::sigmoid(x); }
EBB_STATELESS(SigmoidImpl, detail::NoOptions, Variable);

static Variable call(const SoftsignImpl&, const Variable& x) { return F::softsign(x); }
EBB_STATELESS(SoftsignImpl, detail::NoOptions, Variable);

static Variable call(const TanhImpl&, const Variable& x) { return ebb::tanh(x); }
EBB_STATELESS(TanhImpl, detail::NoOptions, Variable);

static Variable call(const TanhshrinkImpl&, const Variable& x) { return F::tanhshrink(x); }
EBB_STATELESS(TanhshrinkImpl, detail::NoOptions, Variable);

static Variable call(const Softmax2dImpl&, const Variable& x) {
  EBB_CHECK(x.dim() == 4 || x.dim() == 3, "Softmax2d requires a 3D or 4D tensor as input, got ", x.sizes(),
            ". Use Softmax(dim) for other shapes.");
  return F::softmax(x, -3);
}
EBB_STATELESS(Softmax2dImpl, detail::NoOptions, Variable);

static void print(Fields& out, const HardsigmoidOptions& o) { out.flag("inplace", o.inplace()); }
EBB_STATELESS_AS(functional::hardsigmoid, HardsigmoidImpl, HardsigmoidOptions, Variable);
static void print(Fields& out, const HardswishOptions& o) { out.flag("inplace", o.inplace()); }
EBB_STATELESS_AS(functional::hardswish, HardswishImpl, HardswishOptions, Variable);

PReLUImpl::PReLUImpl(PReLUOptions options_) : options(std::move(options_)) { PReLUImpl::reset(); }
void PReLUImpl::reset() {
  weight = register_parameter("weight", full({options.num_parameters()}, options.init()));
}
Variable PReLUImpl::forward(const Variable& input) {
  return at_path(*this, [&] { return F::prelu(input, weight); });
}
void PReLUImpl::pretty_print(std::ostream& stream) const {
  Fields(stream, typeid(PReLUImpl))("num_parameters", options.num_parameters());
}
template class Cloneable<PReLUImpl>;

}  // namespace ebb::nn
