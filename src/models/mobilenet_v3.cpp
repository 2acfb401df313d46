// MobileNetV3: small image classifiers of inverted residual blocks.
#include <ebb/models/mobilenet_v3.h>

#include "models/blocks.h"

#include <vector>

namespace ebb::models {
namespace {

constexpr NormSettings kNorm{1e-3, 0.01};

using Rows = std::vector<InvertedResidualConfig>;

/// Returns table 1 or 2 of the MobileNetV3 paper with the width and the tail of the options.
Rows table(const MobileNetV3Options& options) {
  constexpr Activation RE = Activation::relu, HS = Activation::hardswish;
  const std::int64_t tail = options.reduced_tail() ? 2 : 1, dilation = options.dilated() ? 2 : 1;
  Rows rows;
  if (options.size() == MobileNetV3Size::large)
    rows = {{16, 3, 16, 16, false, RE, 1, 1},
            {16, 3, 64, 24, false, RE, 2, 1},
            {24, 3, 72, 24, false, RE, 1, 1},
            {24, 5, 72, 40, true, RE, 2, 1},
            {40, 5, 120, 40, true, RE, 1, 1},
            {40, 5, 120, 40, true, RE, 1, 1},
            {40, 3, 240, 80, false, HS, 2, 1},
            {80, 3, 200, 80, false, HS, 1, 1},
            {80, 3, 184, 80, false, HS, 1, 1},
            {80, 3, 184, 80, false, HS, 1, 1},
            {80, 3, 480, 112, true, HS, 1, 1},
            {112, 3, 672, 112, true, HS, 1, 1},
            {112, 5, 672, 160 / tail, true, HS, 2, dilation},
            {160 / tail, 5, 960 / tail, 160 / tail, true, HS, 1, dilation},
            {160 / tail, 5, 960 / tail, 160 / tail, true, HS, 1, dilation}};
  else
    rows = {{16, 3, 16, 16, true, RE, 2, 1},
            {16, 3, 72, 24, false, RE, 2, 1},
            {24, 3, 88, 24, false, RE, 1, 1},
            {24, 5, 96, 40, true, HS, 2, 1},
            {40, 5, 240, 40, true, HS, 1, 1},
            {40, 5, 240, 40, true, HS, 1, 1},
            {40, 5, 120, 48, true, HS, 1, 1},
            {48, 5, 144, 48, true, HS, 1, 1},
            {48, 5, 288, 96 / tail, true, HS, 2, dilation},
            {96 / tail, 5, 576 / tail, 96 / tail, true, HS, 1, dilation},
            {96 / tail, 5, 576 / tail, 96 / tail, true, HS, 1, dilation}};
  for (InvertedResidualConfig& row : rows)
    for (std::int64_t* channels : {&row.input_channels, &row.expanded_channels, &row.out_channels})
      *channels = divisible_by_8(static_cast<double>(*channels) * options.width_mult());
  return rows;
}

/// Returns the number of channels of the last layer but one.
std::int64_t last_channels(const MobileNetV3Options& options) {
  const double channels = options.size() == MobileNetV3Size::large ? 1280 : 1024;
  return divisible_by_8(channels / (options.reduced_tail() ? 2 : 1) * options.width_mult());
}

}  // namespace

InvertedResidualImpl::InvertedResidualImpl(InvertedResidualConfig config_) : config(config_) {
  InvertedResidualImpl::reset();
}

void InvertedResidualImpl::reset() {
  const std::int64_t expanded = config.expanded_channels;
  block = nn::Sequential();
  if (expanded != config.input_channels)
    block->push_back(conv_norm_activation({config.input_channels, expanded, 1}, kNorm, config.activation));
  block->push_back(conv_norm_activation(nn::Conv2dOptions(expanded, expanded, config.kernel)
                                            .stride(config.dilation > 1 ? 1 : config.stride)
                                            .dilation(config.dilation)
                                            .groups(expanded),
                                        kNorm, config.activation));
  if (config.use_se)
    block->push_back(SqueezeExcitation(
        SqueezeExcitationOptions(expanded, divisible_by_8(static_cast<double>(expanded / 4)))
            .scale_activation(Activation::hardsigmoid)));
  block->push_back(conv_norm_activation({expanded, config.out_channels, 1}, kNorm, Activation::none));
  register_module("block", block);
}

Variable InvertedResidualImpl::forward(const Variable& x) {
  Variable out = block(x);
  if (config.stride == 1 && config.input_channels == config.out_channels) out += x;
  return out;
}

MobileNetV3Impl::MobileNetV3Impl(MobileNetV3Options options_) : options(options_) {
  MobileNetV3Impl::reset();
}

void MobileNetV3Impl::reset() {
  const Rows rows = table(options);
  const std::int64_t first = rows.front().input_channels, out = rows.back().out_channels;
  features = nn::Sequential();
  features->push_back(
      conv_norm_activation(nn::Conv2dOptions(3, first, 3).stride(2), kNorm, Activation::hardswish));
  for (const InvertedResidualConfig& row : rows) features->push_back(InvertedResidual(row));
  features->push_back(conv_norm_activation({out, 6 * out, 1}, kNorm, Activation::hardswish));
  register_module("features", features);
  avgpool = register_module("avgpool", nn::AdaptiveAvgPool2d(1));
  const std::int64_t last = last_channels(options);
  classifier = register_module(
      "classifier", nn::Sequential(nn::Linear(6 * out, last), nn::Hardswish(), nn::Dropout(options.dropout()),
                                   nn::Linear(last, options.num_classes())));
  initialize(*this, [](nn::LinearImpl& layer) {
    nn::init::normal_(layer.weight, 0, 0.01);
    nn::init::zeros_(layer.bias);
  });
}

Variable MobileNetV3Impl::forward(const Variable& images) {
  return classifier(avgpool(features(images)).flatten(1));
}

MobileNetV3 mobilenet_v3_large(MobileNetV3Options options) {
  return MobileNetV3(options.size(MobileNetV3Size::large));
}
MobileNetV3 mobilenet_v3_small(MobileNetV3Options options) {
  return MobileNetV3(options.size(MobileNetV3Size::small));
}

}  // namespace ebb::models
