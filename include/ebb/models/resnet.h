// ResNet: residual networks.
#pragma once

#include <ebb/nn.h>

#include <array>
#include <cstdint>

namespace ebb::models {

/// Options of a residual block. A BasicBlock has `planes` output channels, a Bottleneck has 4 * `planes`.
class EBB_API ResidualBlockOptions {
 public:
  ResidualBlockOptions(std::int64_t inplanes, std::int64_t planes) : inplanes_(inplanes), planes_(planes) {}

  EBB_ARG(std::int64_t, inplanes);         ///< channels of the input
  EBB_ARG(std::int64_t, planes);           ///< channels of the inner convolutions
  EBB_ARG(std::int64_t, stride) = 1;       ///< stride of the first 3x3 convolution
  EBB_ARG(std::int64_t, groups) = 1;       ///< groups of a Bottleneck's 3x3 convolution
  EBB_ARG(std::int64_t, base_width) = 64;  ///< Bottleneck: inner channels per group for 64 planes
  EBB_ARG(std::int64_t, dilation) = 1;     ///< dilation of a Bottleneck's 3x3 convolution
};

/// Two 3x3 convolutions with a skip connection: relu(x + bn2(conv2(relu(bn1(conv1(x)))))). If the stride is
/// not 1 or the number of channels changes, `downsample` (a 1x1 convolution and a normalization) is applied
/// to the skipped x (torchvision.models.resnet.BasicBlock).
struct EBB_API BasicBlockImpl : nn::Cloneable<BasicBlockImpl> {
  static constexpr std::int64_t expansion = 1;

  explicit BasicBlockImpl(ResidualBlockOptions options_);
  void reset() override;
  Variable forward(const Variable& x);

  ResidualBlockOptions options;
  nn::Conv2d conv1{nullptr};
  nn::BatchNorm2d bn1{nullptr};
  nn::ReLU relu{nullptr};
  nn::Conv2d conv2{nullptr};
  nn::BatchNorm2d bn2{nullptr};
  nn::Sequential downsample{nullptr};  ///< empty if the shapes are equal
};
EBB_MODULE(BasicBlock);

/// 1x1, 3x3 (with the stride) and 1x1 convolutions with a skip connection. `downsample` has the same purpose
/// as in BasicBlock (torchvision.models.resnet.Bottleneck).
struct EBB_API BottleneckImpl : nn::Cloneable<BottleneckImpl> {
  static constexpr std::int64_t expansion = 4;

  explicit BottleneckImpl(ResidualBlockOptions options_);
  void reset() override;
  Variable forward(const Variable& x);

  ResidualBlockOptions options;
  nn::Conv2d conv1{nullptr};
  nn::BatchNorm2d bn1{nullptr};
  nn::Conv2d conv2{nullptr};
  nn::BatchNorm2d bn2{nullptr};
  nn::Conv2d conv3{nullptr};
  nn::BatchNorm2d bn3{nullptr};
  nn::ReLU relu{nullptr};
  nn::Sequential downsample{nullptr};  ///< empty if the shapes are equal
};
EBB_MODULE(Bottleneck);

/// The block type of a ResNet.
enum class ResNetBlock : std::uint8_t { basic, bottleneck };

/// Options of ResNet. The defaults are torchvision's.
class EBB_API ResNetOptions {
 public:
  using Counts = std::array<std::int64_t, 4>;
  using Dilate = std::array<bool, 3>;

  ResNetOptions(std::int64_t num_classes = 1000) : num_classes_(num_classes) {}

  EBB_ARG(std::int64_t, num_classes);                  ///< number of outputs
  EBB_ARG(ResNetBlock, block) = ResNetBlock::basic;    ///< block type of the four layers
  EBB_ARG(Counts, layers) = { 2, 2, 2, 2 };            ///< number of blocks in each layer
  EBB_ARG(std::int64_t, in_channels) = 3;              ///< channels of the images
  EBB_ARG(std::int64_t, groups) = 1;                   ///< ResidualBlockOptions::groups (ResNeXt)
  EBB_ARG(std::int64_t, width_per_group) = 64;         ///< ResidualBlockOptions::base_width
  EBB_ARG(bool, zero_init_residual) = false;           ///< each block is initially the identity
  EBB_ARG(Dilate, replace_stride_with_dilation) = {};  ///< one flag each for layer2, layer3, layer4
};

/// A 7x7 convolution and max pooling, four layers of residual blocks, and a linear layer on the spatial means
/// (He et al. 2016, arXiv:1512.03385; torchvision.models.ResNet, with its names and initialization). Input
/// (N, in_channels, H, W), output (N, num_classes). Throws for basic blocks unless groups = 1,
/// width_per_group = 64 and there is no dilation.
struct EBB_API ResNetImpl : nn::Cloneable<ResNetImpl> {
  explicit ResNetImpl(ResNetOptions options_ = {});
  void reset() override;
  Variable forward(const Variable& images);

  ResNetOptions options;
  nn::Conv2d conv1{nullptr};
  nn::BatchNorm2d bn1{nullptr};
  nn::ReLU relu{nullptr};
  nn::MaxPool2d maxpool{nullptr};
  nn::Sequential layer1{nullptr}, layer2{nullptr}, layer3{nullptr}, layer4{nullptr};
  nn::AdaptiveAvgPool2d avgpool{nullptr};
  nn::Linear fc{nullptr};
};
EBB_MODULE(ResNet);

/// The variants of He et al. (2016), Xie et al. (2017, arXiv:1611.05431) and Zagoruyko & Komodakis (2016,
/// arXiv:1605.07146), with the names of torchvision's functions.
EBB_API ResNet resnet18(ResNetOptions options = {});
EBB_API ResNet resnet34(ResNetOptions options = {});
EBB_API ResNet resnet50(ResNetOptions options = {});
EBB_API ResNet resnet101(ResNetOptions options = {});
EBB_API ResNet resnet152(ResNetOptions options = {});
EBB_API ResNet resnext50_32x4d(ResNetOptions options = {});
EBB_API ResNet resnext101_32x8d(ResNetOptions options = {});
EBB_API ResNet resnext101_64x4d(ResNetOptions options = {});
EBB_API ResNet wide_resnet50_2(ResNetOptions options = {});
EBB_API ResNet wide_resnet101_2(ResNetOptions options = {});

}  // namespace ebb::models
