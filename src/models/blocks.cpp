// Building blocks of vision models: convolution with norm and activation, initial values, SqueezeExcitation
// and StochasticDepth.
#include "models/blocks.h"

#include <ebb/models/layers.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>

#include <algorithm>
#include <ostream>

namespace ebb::models {

nn::AnyModule make_activation(Activation activation) {
  switch (activation) {
    case Activation::none:
      break;
    case Activation::relu:
      return nn::AnyModule(nn::ReLU(nn::ReLUOptions(true)));
    case Activation::silu:
      return nn::AnyModule(nn::SiLU());
    case Activation::hardswish:
      return nn::AnyModule(nn::Hardswish());
    case Activation::sigmoid:
      return nn::AnyModule(nn::Sigmoid());
    case Activation::hardsigmoid:
      return nn::AnyModule(nn::Hardsigmoid());
  }
  return nn::AnyModule(nn::Identity());
}

nn::Sequential conv_norm_activation(nn::Conv2dOptions conv, NormSettings norm, Activation activation) {
  const std::int64_t kernel = conv.kernel_size()->front(), dilation = conv.dilation()->front();
  conv.padding((kernel - 1) / 2 * dilation).bias(false);
  nn::Sequential block(
      nn::Conv2d(conv),
      nn::BatchNorm2d(nn::BatchNorm2dOptions(conv.out_channels()).eps(norm.eps).momentum(norm.momentum)));
  if (activation != Activation::none) block->push_back(make_activation(activation));
  return block;
}

std::int64_t divisible_by_8(double channels) {
  const std::int64_t nearest = std::max<std::int64_t>(8, static_cast<std::int64_t>(channels + 4) / 8 * 8);
  return static_cast<double>(nearest) < 0.9 * channels ? nearest + 8 : nearest;
}

void initialize(nn::Module& net, void (*linear)(nn::LinearImpl& layer)) {
  net.apply([linear](nn::Module& module) {
    if (auto* conv = module.as<nn::Conv2d>()) {
      nn::init::kaiming_normal_(conv->weight, 0, kFanOut, kReLU);
      if (conv->bias.defined()) nn::init::zeros_(conv->bias);
    } else if (auto* norm = module.as<nn::BatchNorm2d>()) {
      nn::init::ones_(norm->weight);
      nn::init::zeros_(norm->bias);
    } else if (auto* layer = module.as<nn::Linear>()) {
      linear(*layer);
    }
  });
}

SqueezeExcitationImpl::SqueezeExcitationImpl(SqueezeExcitationOptions options_) : options(options_) {
  SqueezeExcitationImpl::reset();
}

void SqueezeExcitationImpl::reset() {
  const std::int64_t input = options.input_channels(), squeezed = options.squeeze_channels();
  avgpool = register_module("avgpool", nn::AdaptiveAvgPool2d(1));
  fc1 = register_module("fc1", nn::Conv2d(input, squeezed, 1));
  fc2 = register_module("fc2", nn::Conv2d(squeezed, input, 1));
  activation = make_activation(options.activation());
  scale_activation = make_activation(options.scale_activation());
  register_module("activation", activation.ptr());
  register_module("scale_activation", scale_activation.ptr());
}

Variable SqueezeExcitationImpl::forward(const Variable& x) {
  const Variable squeezed = activation.forward(fc1(avgpool(x)));
  return scale_activation.forward(fc2(squeezed)) * x;
}

StochasticDepthImpl::StochasticDepthImpl(double p_) : p(p_) { StochasticDepthImpl::reset(); }

void StochasticDepthImpl::reset() {
  EBB_CHECK(p >= 0 && p <= 1, "StochasticDepth: p must be a probability, got ", p, ".");
}

void StochasticDepthImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::models::StochasticDepth(p=" << p << ", mode=row)";
}

Variable StochasticDepthImpl::forward(const Variable& x) {
  if (!is_training() || p == 0) return x;
  DimVector sizes(x.sizes().begin(), x.sizes().end());
  for (std::size_t i = 1; i < sizes.size(); ++i) sizes[i] = 1;
  const Variable kept = ebb::empty(sizes, x.options()).bernoulli_(1 - p);
  return x * (p < 1 ? kept.div_(1 - p) : kept);
}

}  // namespace ebb::models
