// ResNet: residual networks, and their blocks BasicBlock and Bottleneck.
#include <ebb/models/resnet.h>

#include "models/blocks.h"

namespace ebb::models {
namespace {

nn::Conv2d conv3x3(std::int64_t in, std::int64_t out, std::int64_t stride = 1, std::int64_t groups = 1,
                   std::int64_t dilation = 1) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, 3)
                        .stride(stride)
                        .padding(dilation)
                        .groups(groups)
                        .dilation(dilation)
                        .bias(false));
}

nn::Conv2d conv1x1(std::int64_t in, std::int64_t out, std::int64_t stride = 1) {
  return nn::Conv2d(nn::Conv2dOptions(in, out, 1).stride(stride).bias(false));
}

nn::ReLU in_place_relu() { return nn::ReLU(nn::ReLUOptions(true)); }

/// Returns the 1x1 convolution that maps the skipped input to `planes` channels with the block's stride, and
/// a batch norm. Returns an empty handle if neither channels nor sizes change. As in torchvision, it is
/// constructed before the block's other layers, which determines the order of random values, but registered
/// last.
nn::Sequential make_downsample(const ResidualBlockOptions& options, std::int64_t planes) {
  if (options.stride() == 1 && options.inplanes() == planes) return nullptr;
  nn::Conv2d conv = conv1x1(options.inplanes(), planes, options.stride());
  return nn::Sequential(conv, nn::BatchNorm2d(planes));
}

}  // namespace

BasicBlockImpl::BasicBlockImpl(ResidualBlockOptions options_) : options(options_) { BasicBlockImpl::reset(); }

void BasicBlockImpl::reset() {
  EBB_CHECK(options.groups() == 1 && options.base_width() == 64 && options.dilation() == 1,
            "BasicBlock: groups must be 1, base_width 64 and dilation 1, got groups ", options.groups(),
            ", base_width ", options.base_width(), " and dilation ", options.dilation(),
            ". A Bottleneck supports other values.");
  const std::int64_t planes = options.planes();
  downsample = make_downsample(options, planes);
  conv1 = register_module("conv1", conv3x3(options.inplanes(), planes, options.stride()));
  bn1 = register_module("bn1", nn::BatchNorm2d(planes));
  relu = register_module("relu", in_place_relu());
  conv2 = register_module("conv2", conv3x3(planes, planes));
  bn2 = register_module("bn2", nn::BatchNorm2d(planes));
  if (downsample) register_module("downsample", downsample);
}

Variable BasicBlockImpl::forward(const Variable& x) {
  Variable out = relu(bn1(conv1(x)));
  out = bn2(conv2(out));
  out += downsample ? downsample(x) : x;
  return relu(out);
}

BottleneckImpl::BottleneckImpl(ResidualBlockOptions options_) : options(options_) { BottleneckImpl::reset(); }

void BottleneckImpl::reset() {
  const std::int64_t width = options.planes() * options.base_width() / 64 * options.groups();
  const std::int64_t planes = options.planes() * expansion;
  downsample = make_downsample(options, planes);
  conv1 = register_module("conv1", conv1x1(options.inplanes(), width));
  bn1 = register_module("bn1", nn::BatchNorm2d(width));
  conv2 =
      register_module("conv2", conv3x3(width, width, options.stride(), options.groups(), options.dilation()));
  bn2 = register_module("bn2", nn::BatchNorm2d(width));
  conv3 = register_module("conv3", conv1x1(width, planes));
  bn3 = register_module("bn3", nn::BatchNorm2d(planes));
  relu = register_module("relu", in_place_relu());
  if (downsample) register_module("downsample", downsample);
}

Variable BottleneckImpl::forward(const Variable& x) {
  Variable out = relu(bn1(conv1(x)));
  out = relu(bn2(conv2(out)));
  out = bn3(conv3(out));
  out += downsample ? downsample(x) : x;
  return relu(out);
}

namespace {

/// Constructs the four layers in order. The output channels of a layer are the input channels of the next.
template <class Block>
class LayerMaker {
 public:
  explicit LayerMaker(const ResNetOptions& options) : options_(options) {}

  nn::Sequential make(std::int64_t planes, std::int64_t blocks, std::int64_t stride, bool dilate) {
    auto block = ResidualBlockOptions(inplanes_, planes)
                     .stride(dilate ? 1 : stride)
                     .groups(options_.groups())
                     .base_width(options_.width_per_group())
                     .dilation(dilation_);
    if (dilate) dilation_ *= stride;
    nn::Sequential layer;
    layer->push_back(Block(block));
    inplanes_ = planes * Block::Impl::expansion;
    block.inplanes(inplanes_).stride(1).dilation(dilation_);
    for (std::int64_t i = 1; i < blocks; ++i) layer->push_back(Block(block));
    return layer;
  }
  std::int64_t channels() const { return inplanes_; }

 private:
  const ResNetOptions& options_;
  std::int64_t inplanes_ = 64, dilation_ = 1;
};

/// Registers layer1 to layer4 and returns the output channels of layer4.
template <class Block>
std::int64_t add_layers(ResNetImpl& net) {
  const auto& blocks = net.options.layers();
  const auto& dilate = net.options.replace_stride_with_dilation();
  LayerMaker<Block> maker(net.options);
  net.layer1 = net.register_module("layer1", maker.make(64, blocks[0], 1, false));
  net.layer2 = net.register_module("layer2", maker.make(128, blocks[1], 2, dilate[0]));
  net.layer3 = net.register_module("layer3", maker.make(256, blocks[2], 2, dilate[1]));
  net.layer4 = net.register_module("layer4", maker.make(512, blocks[3], 2, dilate[2]));
  return maker.channels();
}

ResNet resnet(ResNetOptions options, ResNetBlock block, ResNetOptions::Counts layers) {
  return ResNet(options.block(block).layers(layers));
}

}  // namespace

ResNetImpl::ResNetImpl(ResNetOptions options_) : options(options_) { ResNetImpl::reset(); }

void ResNetImpl::reset() {
  conv1 = register_module(
      "conv1", nn::Conv2d(nn::Conv2dOptions(options.in_channels(), 64, 7).stride(2).padding(3).bias(false)));
  bn1 = register_module("bn1", nn::BatchNorm2d(64));
  relu = register_module("relu", nn::ReLU(nn::ReLUOptions(true)));
  maxpool = register_module("maxpool", nn::MaxPool2d(nn::MaxPool2dOptions(3).stride(2).padding(1)));
  const std::int64_t channels =
      options.block() == ResNetBlock::basic ? add_layers<BasicBlock>(*this) : add_layers<Bottleneck>(*this);
  avgpool = register_module("avgpool", nn::AdaptiveAvgPool2d(1));
  fc = register_module("fc", nn::Linear(channels, options.num_classes()));
  initialize(*this, [](nn::LinearImpl&) {});
  if (!options.zero_init_residual()) return;
  apply([](nn::Module& module) {
    if (auto* basic = module.as<BasicBlock>()) nn::init::zeros_(basic->bn2->weight);
    if (auto* bottleneck = module.as<Bottleneck>()) nn::init::zeros_(bottleneck->bn3->weight);
  });
}

Variable ResNetImpl::forward(const Variable& images) {
  Variable x = maxpool(relu(bn1(conv1(images))));
  x = layer4(layer3(layer2(layer1(x))));
  return fc(avgpool(x).flatten(1));
}

ResNet resnet18(ResNetOptions options) { return resnet(options, ResNetBlock::basic, {2, 2, 2, 2}); }
ResNet resnet34(ResNetOptions options) { return resnet(options, ResNetBlock::basic, {3, 4, 6, 3}); }
ResNet resnet50(ResNetOptions options) { return resnet(options, ResNetBlock::bottleneck, {3, 4, 6, 3}); }
ResNet resnet101(ResNetOptions options) { return resnet(options, ResNetBlock::bottleneck, {3, 4, 23, 3}); }
ResNet resnet152(ResNetOptions options) { return resnet(options, ResNetBlock::bottleneck, {3, 8, 36, 3}); }
ResNet resnext50_32x4d(ResNetOptions options) { return resnet50(options.groups(32).width_per_group(4)); }
ResNet resnext101_32x8d(ResNetOptions options) { return resnet101(options.groups(32).width_per_group(8)); }
ResNet resnext101_64x4d(ResNetOptions options) { return resnet101(options.groups(64).width_per_group(4)); }
ResNet wide_resnet50_2(ResNetOptions options) { return resnet50(options.width_per_group(128)); }
ResNet wide_resnet101_2(ResNetOptions options) { return resnet101(options.width_per_group(128)); }

}  // namespace ebb::models
