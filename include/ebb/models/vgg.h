// VGG: convolutional networks with 3x3 convolutions.
#pragma once

#include <ebb/nn.h>

#include <cstdint>
#include <vector>

namespace ebb::models {

/// Options of VGG. The defaults are torchvision's.
class EBB_API VGGOptions {
 public:
  using Counts = std::vector<std::int64_t>;

  VGGOptions(std::int64_t num_classes = 1000) : num_classes_(num_classes) {}

  EBB_ARG(std::int64_t, num_classes);                 ///< number of outputs
  EBB_ARG(Counts, convolutions) = { 2, 2, 3, 3, 3 };  ///< convolutions in each stage, before max pooling
  EBB_ARG(bool, batch_norm) = false;                  ///< batch normalization after each convolution
  EBB_ARG(double, dropout) = 0.5;                     ///< dropout probability between the linear layers
  EBB_ARG(std::int64_t, in_channels) = 3;             ///< channels of the images
  EBB_ARG(std::int64_t, width) = 64;  ///< channels of stage 1; later stages have 2, 4, 8, 8... times as many
  EBB_ARG(std::int64_t, hidden) = 4096;  ///< outputs of the first two linear layers
  EBB_ARG(std::int64_t, pool) = 7;       ///< height and width of the classifier's input
};

/// Stages of 3x3 convolutions, followed by three linear layers (Simonyan & Zisserman 2015, arXiv:1409.1556;
/// torchvision.models.VGG, with its names and initialization). Input (N, in_channels, H, W) with H, W >=
/// 2^stages, output (N, num_classes). The following example loads torchvision's weights, without the last
/// layer, into a net with three classes:
///     auto net = vgg16(3);
///     load(net, "vgg16-397923af.pth", LoadOptions().ignore({"classifier.6."}).strict(false));
struct EBB_API VGGImpl : nn::Cloneable<VGGImpl> {
  explicit VGGImpl(VGGOptions options_ = {});
  void reset() override;
  Variable forward(const Variable& images);

  VGGOptions options;
  nn::Sequential features{nullptr};
  nn::AdaptiveAvgPool2d avgpool{nullptr};
  nn::Sequential classifier{nullptr};
};
EBB_MODULE(VGG);

/// VGG with 8, 10, 13 or 16 convolutions, with the names of torchvision's functions. The functions with _bn
/// add batch normalization.
EBB_API VGG vgg11(VGGOptions options = {});
EBB_API VGG vgg11_bn(VGGOptions options = {});
EBB_API VGG vgg13(VGGOptions options = {});
EBB_API VGG vgg13_bn(VGGOptions options = {});
EBB_API VGG vgg16(VGGOptions options = {});
EBB_API VGG vgg16_bn(VGGOptions options = {});
EBB_API VGG vgg19(VGGOptions options = {});
EBB_API VGG vgg19_bn(VGGOptions options = {});

}  // namespace ebb::models
