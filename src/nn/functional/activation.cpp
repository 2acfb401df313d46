#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/functional/activation.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/random.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>
#include <ebb/ops/softmax.h>

namespace ebb::nn::functional {

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
  const Variable soft = ((logits + noise) / options.tau()).softmax(options.dim());
  if (!options.hard()) return soft;
  const Variable index = std::get<1>(soft.max(options.dim(), true));
  const Variable hard = zeros_like(logits.detach()).scatter_(options.dim(), index, 1.0);
  return hard - soft.detach() + soft;
}

Variable glu(const Variable& input, const GLUFuncOptions& options) {
  EBB_CHECK(input.dim() != 0, "glu does not support scalars because halving size must be even");
  return ebb::glu(input, options.dim());
}
Variable gelu(const Variable& input, const GELUFuncOptions& options) {
  return ebb::gelu(input, options.approximate());
}
Variable silu(const Variable& input) { return ebb::silu(input); }
Variable mish(const Variable& input) { return ebb::mish(input); }
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
Variable softsign(const Variable& input) { return input / (input.abs() + 1); }
Variable tanhshrink(const Variable& input) { return input - input.tanh(); }
Variable threshold(Variable input, const ThresholdFuncOptions& options) {
  return options.inplace() ? ebb::threshold_(input, options.threshold(), options.value())
                           : ebb::threshold(input, options.threshold(), options.value());
}

}  // namespace ebb::nn::functional
