// fuse_conv_bn_eval and fuse_linear_bn_eval: merge a batch norm in evaluation mode into the layer before it.
#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/fusion.h>
#include <ebb/nn/skip_init.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/shape.h>

namespace ebb::nn::utils {
namespace {

template <class Layer, class Norm>
Layer fused(const Layer& layer, const Norm& bn, bool transpose) {
  EBB_CHECK(!layer->is_training() && !bn->is_training(),
            "fuse_conv_bn_eval: both modules must be in evaluation mode. Call eval() on them.");
  EBB_CHECK(bn->running_mean.defined(),
            "fuse_conv_bn_eval: the batch normalisation has no running statistics (track_running_stats).");
  NoGradGuard no_grad;
  auto options = layer->options;
  options.bias(true);
  const Layer out = skip_init<Layer>(options);
  const auto [weight, bias] =
      fuse_conv_bn_weights(layer->weight, layer->bias, bn->running_mean, bn->running_var, bn->options.eps(),
                           bn->weight, bn->bias, transpose);
  out->weight.set_data(weight);
  out->bias.set_data(bias);
  out->weight.set_requires_grad(layer->weight.requires_grad());
  out->bias.set_requires_grad(layer->bias.defined() ? layer->bias.requires_grad()
                                                    : layer->weight.requires_grad());
  const_cast<Module&>(static_cast<const Module&>(*out)).eval();
  return out;
}

}  // namespace

std::tuple<Variable, Variable> fuse_conv_bn_weights(const Variable& conv_w, const Variable& conv_b,
                                                    const Variable& bn_rm, const Variable& bn_rv,
                                                    double bn_eps, const Variable& bn_w, const Variable& bn_b,
                                                    bool transpose) {
  EBB_CHECK(conv_w.defined() && bn_rm.defined() && bn_rv.defined() && conv_w.dim() >= 2,
            "fuse_conv_bn_weights: the weight (two dimensions or more) and the statistics must be defined.");
  const std::int64_t channels = bn_rm.numel(), of_group = transpose ? conv_w.size(1) : channels;
  EBB_CHECK(transpose ? channels % of_group == 0 && conv_w.size(0) % (channels / of_group) == 0
                      : conv_w.size(0) == channels,
            "fuse_conv_bn_weights: a weight of shape ", conv_w.sizes(), " does not have ", channels,
            " output channels, the number of running statistics.");
  Variable scale = (bn_rv + bn_eps).rsqrt();
  if (bn_w.defined()) scale = bn_w * scale;
  Variable bias = conv_b.defined() ? (conv_b - bn_rm) * scale : -bn_rm * scale;
  if (bn_b.defined()) bias = bias + bn_b;
  // `rows` has the output channels in dimensions 0 (groups) and 2 (channels of a group), so that `scale`
  // broadcasts to it. The shape of a transposed weight is (inputs, channels of a group, kernel...).
  const std::int64_t groups = channels / of_group;
  const Variable rows = transpose ? conv_w.reshape({groups, conv_w.size(0) / groups, of_group, -1})
                                  : conv_w.reshape({1, 1, channels, -1});
  const Variable weight = (rows * scale.reshape({groups, 1, of_group, 1})).reshape(conv_w.sizes());
  return {weight.to(conv_w.dtype()), bias.to(conv_w.dtype())};
}

std::tuple<Variable, Variable> fuse_linear_bn_weights(const Variable& linear_w, const Variable& linear_b,
                                                      const Variable& bn_rm, const Variable& bn_rv,
                                                      double bn_eps, const Variable& bn_w,
                                                      const Variable& bn_b) {
  return fuse_conv_bn_weights(linear_w, linear_b, bn_rm, bn_rv, bn_eps, bn_w, bn_b);
}

Conv1d fuse_conv_bn_eval(const Conv1d& conv, const BatchNorm1d& bn) { return fused(conv, bn, false); }
Conv2d fuse_conv_bn_eval(const Conv2d& conv, const BatchNorm2d& bn) { return fused(conv, bn, false); }
Conv3d fuse_conv_bn_eval(const Conv3d& conv, const BatchNorm3d& bn) { return fused(conv, bn, false); }
ConvTranspose1d fuse_conv_bn_eval(const ConvTranspose1d& conv, const BatchNorm1d& bn) {
  return fused(conv, bn, true);
}
ConvTranspose2d fuse_conv_bn_eval(const ConvTranspose2d& conv, const BatchNorm2d& bn) {
  return fused(conv, bn, true);
}
ConvTranspose3d fuse_conv_bn_eval(const ConvTranspose3d& conv, const BatchNorm3d& bn) {
  return fused(conv, bn, true);
}
Linear fuse_linear_bn_eval(const Linear& linear, const BatchNorm1d& bn) { return fused(linear, bn, false); }

}  // namespace ebb::nn::utils
