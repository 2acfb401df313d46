// EfficientNet: image classifiers of MBConv blocks, scaled in width and depth.
#pragma once

#include <ebb/models/layers.h>

#include <cstdint>

namespace ebb::models {

/// The configuration of one block of EfficientNet.
struct MBConvConfig {
  double expand_ratio;  ///< hidden channels per input channel
  std::int64_t kernel, stride, input_channels, out_channels;
  double stochastic_depth_prob;  ///< probability to skip the block for a sample in training
  double norm_eps = 1e-5, norm_momentum = 0.1;
};

/// Inverted residual block with squeeze-and-excitation: a 1x1 convolution to more channels (if expand_ratio >
/// 1), a depthwise convolution, squeeze-and-excitation, and a 1x1 projection. If the shapes are equal,
/// stochastic depth and a skip connection follow (torchvision.models.efficientnet.MBConv).
struct EBB_API MBConvImpl : nn::Cloneable<MBConvImpl> {
  explicit MBConvImpl(MBConvConfig config_);
  void reset() override;
  Variable forward(const Variable& x);

  MBConvConfig config;
  nn::Sequential block{nullptr};
  StochasticDepth stochastic_depth{nullptr};
};
EBB_MODULE(MBConv);

/// Options of EfficientNet. The defaults are those of torchvision's efficientnet_b0. For B1 to B7,
/// (width_mult, depth_mult, dropout) are (1, 1.1, 0.2), (1.1, 1.2, 0.3), (1.2, 1.4, 0.3), (1.4, 1.8, 0.4),
/// (1.6, 2.2, 0.4), (1.8, 2.6, 0.5) and (2, 3.1, 0.5). From B5 on, norm_eps is 0.001 and norm_momentum 0.01.
class EBB_API EfficientNetOptions {
 public:
  EfficientNetOptions(std::int64_t num_classes = 1000) : num_classes_(num_classes) {}

  EBB_ARG(std::int64_t, num_classes);            ///< number of outputs
  EBB_ARG(double, width_mult) = 1;               ///< factor of the number of channels
  EBB_ARG(double, depth_mult) = 1;               ///< factor of the number of blocks in each stage
  EBB_ARG(double, dropout) = 0.2;                ///< dropout probability before the last layer
  EBB_ARG(double, stochastic_depth_prob) = 0.2;  ///< grows from 0 with the blocks to nearly this value
  EBB_ARG(double, norm_eps) = 1e-5;              ///< eps of all batch normalizations
  EBB_ARG(double, norm_momentum) = 0.1;          ///< momentum of all batch normalizations
};

/// Stages of MBConv blocks with SiLU (Tan & Le 2019, arXiv:1905.11946; torchvision.models.EfficientNet, with
/// its names and initialization). Input (N, 3, H, W), output (N, num_classes).
struct EBB_API EfficientNetImpl : nn::Cloneable<EfficientNetImpl> {
  explicit EfficientNetImpl(EfficientNetOptions options_ = {});
  void reset() override;
  Variable forward(const Variable& images);

  EfficientNetOptions options;
  nn::Sequential features{nullptr};
  nn::AdaptiveAvgPool2d avgpool{nullptr};
  nn::Sequential classifier{nullptr};
};
EBB_MODULE(EfficientNet);

/// Returns EfficientNet-B0, like torchvision's function of the same name.
EBB_API EfficientNet efficientnet_b0(EfficientNetOptions options = {});

}  // namespace ebb::models
