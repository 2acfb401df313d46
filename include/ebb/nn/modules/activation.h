// Activation functions as modules.
#pragma once

#include <ebb/nn/functional/activation.h>
#include <ebb/nn/stateless.h>

namespace ebb::nn {

namespace detail {
/// The base of a module that applies a function of one tensor and of options.
template <class Derived, class Options = NoOptions>
using Activation = Stateless<Derived, Options, Variable>;
}  // namespace detail

/// max(0, x) + min(0, alpha * (exp(x) - 1)).
struct EBB_API ELUImpl : detail::Activation<ELUImpl, ELUOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(ELU);

/// ELU with the constants that preserve mean and variance, times a scale.
struct EBB_API SELUImpl : detail::Activation<SELUImpl, SELUOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(SELU);

/// x if |x| > lambda, otherwise 0.
struct EBB_API HardshrinkImpl : detail::Activation<HardshrinkImpl, HardshrinkOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(Hardshrink);

/// x clamped to [min_val, max_val].
struct EBB_API HardtanhImpl : detail::Activation<HardtanhImpl, HardtanhOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(Hardtanh);

/// max(0, x) + negative_slope * min(0, x).
struct EBB_API LeakyReLUImpl : detail::Activation<LeakyReLUImpl, LeakyReLUOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(LeakyReLU);

/// exp(x) / sum(exp(x)) along dim.
struct EBB_API SoftmaxImpl : detail::Activation<SoftmaxImpl, SoftmaxOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(Softmax);

/// Softmax of -x.
struct EBB_API SoftminImpl : detail::Activation<SoftminImpl, SoftminOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(Softmin);

/// The logarithm of Softmax.
struct EBB_API LogSoftmaxImpl : detail::Activation<LogSoftmaxImpl, LogSoftmaxOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(LogSoftmax);

/// max(0, x).
struct EBB_API ReLUImpl : detail::Activation<ReLUImpl, ReLUOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(ReLU);

/// min(max(0, x), 6).
struct EBB_API ReLU6Impl : detail::Activation<ReLU6Impl, ReLU6Options> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(ReLU6);

/// LeakyReLU whose slope is drawn for each element from U(lower, upper) in training.
struct EBB_API RReLUImpl : detail::Activation<RReLUImpl, RReLUOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(RReLU);

/// max(0, x) + min(0, alpha * (exp(x / alpha) - 1)).
struct EBB_API CELUImpl : detail::Activation<CELUImpl, CELUOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(CELU);

/// The first half times the sigmoid of the second half, along dim.
struct EBB_API GLUImpl : detail::Activation<GLUImpl, GLUOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(GLU);

/// x * Phi(x), where Phi is the normal distribution function.
struct EBB_API GELUImpl : detail::Activation<GELUImpl, GELUOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(GELU);

/// log(1 + exp(beta * x)) / beta.
struct EBB_API SoftplusImpl : detail::Activation<SoftplusImpl, SoftplusOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(Softplus);

/// x moved towards 0 by lambda.
struct EBB_API SoftshrinkImpl : detail::Activation<SoftshrinkImpl, SoftshrinkOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(Softshrink);

/// x if x > threshold, otherwise value.
struct EBB_API ThresholdImpl : detail::Activation<ThresholdImpl, ThresholdOptions> {
  using Stateless::Stateless;
  ThresholdImpl(double threshold, double value) : ThresholdImpl(ThresholdOptions(threshold, value)) {}
};
EBB_LIBRARY_MODULE(Threshold);

/// log(sigmoid(x)).
struct EBB_API LogSigmoidImpl : detail::Activation<LogSigmoidImpl> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(LogSigmoid);

/// Softmax over the channels of (N, C, H, W) or (C, H, W).
struct EBB_API Softmax2dImpl : detail::Activation<Softmax2dImpl> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(Softmax2d);

/// x * sigmoid(x).
struct EBB_API SiLUImpl : detail::Activation<SiLUImpl, SiLUOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(SiLU);

/// x * tanh(softplus(x)).
struct EBB_API MishImpl : detail::Activation<MishImpl, MishOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(Mish);

/// 1 / (1 + exp(-x)).
struct EBB_API SigmoidImpl : detail::Activation<SigmoidImpl> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(Sigmoid);

/// x / (1 + |x|).
struct EBB_API SoftsignImpl : detail::Activation<SoftsignImpl> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(Softsign);

/// tanh(x).
struct EBB_API TanhImpl : detail::Activation<TanhImpl> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(Tanh);

/// x - tanh(x).
struct EBB_API TanhshrinkImpl : detail::Activation<TanhshrinkImpl> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(Tanhshrink);

/// max(0, x) + weight * min(0, x), with a learned weight.
class EBB_API PReLUImpl : public Cloneable<PReLUImpl> {
 public:
  explicit PReLUImpl(PReLUOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  PReLUOptions options;
  Variable weight;
};
EBB_LIBRARY_MODULE(PReLU);

/// x / 6 + 1 / 2, clamped to [0, 1] (torch.nn.Hardsigmoid).
struct EBB_API HardsigmoidImpl : detail::Stateless<HardsigmoidImpl, HardsigmoidOptions, Variable> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(Hardsigmoid);

/// x * hardsigmoid(x) (torch.nn.Hardswish).
struct EBB_API HardswishImpl : detail::Stateless<HardswishImpl, HardswishOptions, Variable> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(Hardswish);

}  // namespace ebb::nn
