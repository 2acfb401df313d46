// BasicBlock and Bottleneck of ResNet.
#include <ebb/models/resnet.h>

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

/// Returns the projection of the input to `planes` channels and the stride, or an empty handle if it is not
/// needed. torchvision constructs it before the block, which determines the order of random values, and
/// registers it last.
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

}  // namespace ebb::models
