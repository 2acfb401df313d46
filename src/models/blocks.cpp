// Building blocks of vision models.
#include "models/blocks.h"

#include <algorithm>

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

}  // namespace ebb::models
