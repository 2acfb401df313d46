// VGG: image classifiers of 3x3 convolutions and max pooling.
#include <ebb/models/vgg.h>

#include "models/blocks.h"

#include <algorithm>

namespace ebb::models {
namespace {

nn::Sequential make_features(const VGGOptions& options) {
  nn::Sequential features;
  std::int64_t channels = options.in_channels(), width = options.width();
  for (const std::int64_t count : options.convolutions()) {
    for (std::int64_t i = 0; i < count; ++i) {
      features->push_back(nn::Conv2d(nn::Conv2dOptions(channels, width, 3).padding(1)));
      if (options.batch_norm()) features->push_back(nn::BatchNorm2d(width));
      features->push_back(nn::ReLU(nn::ReLUOptions(true)));
      channels = width;
    }
    features->push_back(nn::MaxPool2d(nn::MaxPool2dOptions(2).stride(2)));
    width = std::min(2 * width, 8 * options.width());
  }
  return features;
}

std::int64_t feature_channels(const VGGOptions& options) {
  const std::size_t doublings = std::min<std::size_t>(options.convolutions().size() - 1, 3);
  return options.width() << doublings;
}

}  // namespace

VGGImpl::VGGImpl(VGGOptions options_) : options(std::move(options_)) { VGGImpl::reset(); }

void VGGImpl::reset() {
  const auto& stages = options.convolutions();
  EBB_CHECK(!stages.empty() && std::all_of(stages.begin(), stages.end(), [](auto n) { return n > 0; }),
            "VGG: every stage needs a convolution, got ", IntArrayRef(stages), ".");
  const std::int64_t inputs = feature_channels(options) * options.pool() * options.pool();
  features = register_module("features", make_features(options));
  avgpool = register_module("avgpool", nn::AdaptiveAvgPool2d(options.pool()));
  classifier = register_module(
      "classifier",
      nn::Sequential(nn::Linear(inputs, options.hidden()), nn::ReLU(nn::ReLUOptions(true)),
                     nn::Dropout(options.dropout()), nn::Linear(options.hidden(), options.hidden()),
                     nn::ReLU(nn::ReLUOptions(true)), nn::Dropout(options.dropout()),
                     nn::Linear(options.hidden(), options.num_classes())));
  initialize(*this, [](nn::LinearImpl& layer) {
    nn::init::normal_(layer.weight, 0, 0.01);
    nn::init::zeros_(layer.bias);
  });
}

Variable VGGImpl::forward(const Variable& images) { return classifier(avgpool(features(images)).flatten(1)); }

VGG vgg11(VGGOptions options) { return VGG(options.convolutions({1, 1, 2, 2, 2})); }
VGG vgg13(VGGOptions options) { return VGG(options.convolutions({2, 2, 2, 2, 2})); }
VGG vgg16(VGGOptions options) { return VGG(options.convolutions({2, 2, 3, 3, 3})); }
VGG vgg19(VGGOptions options) { return VGG(options.convolutions({2, 2, 4, 4, 4})); }
VGG vgg11_bn(VGGOptions options) { return vgg11(options.batch_norm(true)); }
VGG vgg13_bn(VGGOptions options) { return vgg13(options.batch_norm(true)); }
VGG vgg16_bn(VGGOptions options) { return vgg16(options.batch_norm(true)); }
VGG vgg19_bn(VGGOptions options) { return vgg19(options.batch_norm(true)); }

}  // namespace ebb::models
