// EfficientNet: image classifiers of MBConv blocks, scaled in width and depth.
#include <ebb/models/efficientnet.h>

#include "models/blocks.h"

#include <algorithm>
#include <cmath>
#include <vector>

namespace ebb::models {
namespace {

/// A row of table 1 of the EfficientNet paper.
struct Stage {
  double expand_ratio;
  std::int64_t kernel, stride, input_channels, out_channels, blocks;
};

/// Returns the table with the width and depth of the options.
std::vector<Stage> table(const EfficientNetOptions& options) {
  std::vector<Stage> stages = {{1, 3, 1, 32, 16, 1},  {6, 3, 2, 16, 24, 2},  {6, 5, 2, 24, 40, 2},
                               {6, 3, 2, 40, 80, 3},  {6, 5, 1, 80, 112, 3}, {6, 5, 2, 112, 192, 4},
                               {6, 3, 1, 192, 320, 1}};
  for (Stage& stage : stages) {
    for (std::int64_t* channels : {&stage.input_channels, &stage.out_channels})
      *channels = divisible_by_8(static_cast<double>(*channels) * options.width_mult());
    stage.blocks =
        static_cast<std::int64_t>(std::ceil(static_cast<double>(stage.blocks) * options.depth_mult()));
  }
  return stages;
}

/// Returns one module per stage. The stochastic depth probability of a block increases with its depth.
std::vector<nn::Sequential> make_stages(const std::vector<Stage>& stages,
                                        const EfficientNetOptions& options) {
  std::int64_t all = 0, index = 0;
  for (const Stage& stage : stages) all += stage.blocks;
  std::vector<nn::Sequential> modules;
  for (const Stage& stage : stages) {
    nn::Sequential blocks;
    for (std::int64_t i = 0; i < stage.blocks; ++i, ++index) {
      const double depth = static_cast<double>(index) / static_cast<double>(all);
      blocks->push_back(MBConv(MBConvConfig{stage.expand_ratio, stage.kernel, i == 0 ? stage.stride : 1,
                                            i == 0 ? stage.input_channels : stage.out_channels,
                                            stage.out_channels, options.stochastic_depth_prob() * depth,
                                            options.norm_eps(), options.norm_momentum()}));
    }
    modules.push_back(blocks);
  }
  return modules;
}

}  // namespace

MBConvImpl::MBConvImpl(MBConvConfig config_) : config(config_) { MBConvImpl::reset(); }

void MBConvImpl::reset() {
  const NormSettings norm{config.norm_eps, config.norm_momentum};
  const std::int64_t in = config.input_channels;
  const std::int64_t expanded = divisible_by_8(static_cast<double>(in) * config.expand_ratio);
  block = nn::Sequential();
  if (expanded != in) block->push_back(conv_norm_activation({in, expanded, 1}, norm, Activation::silu));
  block->push_back(conv_norm_activation(
      nn::Conv2dOptions(expanded, expanded, config.kernel).stride(config.stride).groups(expanded), norm,
      Activation::silu));
  block->push_back(SqueezeExcitation(
      SqueezeExcitationOptions(expanded, std::max<std::int64_t>(1, in / 4)).activation(Activation::silu)));
  block->push_back(conv_norm_activation({expanded, config.out_channels, 1}, norm, Activation::none));
  register_module("block", block);
  stochastic_depth = register_module("stochastic_depth", StochasticDepth(config.stochastic_depth_prob));
}

Variable MBConvImpl::forward(const Variable& x) {
  Variable out = block(x);
  if (config.stride != 1 || config.input_channels != config.out_channels) return out;
  out = stochastic_depth(out);
  out += x;
  return out;
}

EfficientNetImpl::EfficientNetImpl(EfficientNetOptions options_) : options(options_) {
  EfficientNetImpl::reset();
}

void EfficientNetImpl::reset() {
  const std::vector<Stage> stages = table(options);
  const std::int64_t first = stages.front().input_channels, out = stages.back().out_channels;
  const NormSettings norm{options.norm_eps(), options.norm_momentum()};
  features = nn::Sequential();
  features->push_back(conv_norm_activation(nn::Conv2dOptions(3, first, 3).stride(2), norm, Activation::silu));
  features->extend(make_stages(stages, options));
  features->push_back(conv_norm_activation({out, 4 * out, 1}, norm, Activation::silu));
  register_module("features", features);
  avgpool = register_module("avgpool", nn::AdaptiveAvgPool2d(1));
  classifier = register_module("classifier", nn::Sequential(nn::Dropout(options.dropout()),
                                                            nn::Linear(4 * out, options.num_classes())));
  initialize(*this, [](nn::LinearImpl& layer) {
    const double bound = 1 / std::sqrt(static_cast<double>(layer.options.out_features()));
    nn::init::uniform_(layer.weight, -bound, bound);
    nn::init::zeros_(layer.bias);
  });
}

Variable EfficientNetImpl::forward(const Variable& images) {
  return classifier(avgpool(features(images)).flatten(1));
}

EfficientNet efficientnet_b0(EfficientNetOptions options) { return EfficientNet(options); }

}  // namespace ebb::models
