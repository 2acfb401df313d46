// MobileNetV3: small image classifiers of inverted residual blocks.
#pragma once

#include <ebb/models/layers.h>

#include <cstdint>

namespace ebb::models {

/// The configuration of one block of MobileNetV3.
struct InvertedResidualConfig {
  std::int64_t input_channels, kernel, expanded_channels, out_channels;
  bool use_se;  ///< squeeze-and-excitation after the depthwise convolution
  Activation activation;
  std::int64_t stride, dilation;
};

/// Inverted residual block: a 1x1 convolution to expanded_channels (if they exceed input_channels), a
/// depthwise convolution, optional squeeze-and-excitation, and a 1x1 projection. The input is added if the
/// shapes are equal (torchvision.models.mobilenetv3.InvertedResidual).
struct EBB_API InvertedResidualImpl : nn::Cloneable<InvertedResidualImpl> {
  explicit InvertedResidualImpl(InvertedResidualConfig config_);
  void reset() override;
  Variable forward(const Variable& x);

  InvertedResidualConfig config;
  nn::Sequential block{nullptr};
};
EBB_MODULE(InvertedResidual);

/// The two sizes of MobileNetV3.
enum class MobileNetV3Size : std::uint8_t { large, small };

/// Options of MobileNetV3. The defaults are torchvision's.
class EBB_API MobileNetV3Options {
 public:
  MobileNetV3Options(std::int64_t num_classes = 1000) : num_classes_(num_classes) {}

  EBB_ARG(std::int64_t, num_classes);                       ///< number of outputs
  EBB_ARG(MobileNetV3Size, size) = MobileNetV3Size::large;  ///< size of the model
  EBB_ARG(double, dropout) = 0.2;                           ///< dropout probability before the last layer
  EBB_ARG(double, width_mult) = 1;                          ///< factor of the number of channels
  EBB_ARG(bool, reduced_tail) = false;                      ///< half the channels in the last stage
  EBB_ARG(bool, dilated) = false;                           ///< dilation in place of the last stride
};

/// Inverted residual blocks with squeeze-and-excitation and hardswish (Howard et al. 2019, arXiv:1905.02244;
/// torchvision.models.MobileNetV3, with its names and initialization). Input (N, 3, H, W), output (N,
/// num_classes).
struct EBB_API MobileNetV3Impl : nn::Cloneable<MobileNetV3Impl> {
  explicit MobileNetV3Impl(MobileNetV3Options options_ = {});
  void reset() override;
  Variable forward(const Variable& images);

  MobileNetV3Options options;
  nn::Sequential features{nullptr};
  nn::AdaptiveAvgPool2d avgpool{nullptr};
  nn::Sequential classifier{nullptr};
};
EBB_MODULE(MobileNetV3);

/// Return MobileNetV3-Large and MobileNetV3-Small, like torchvision's functions of the same names.
EBB_API MobileNetV3 mobilenet_v3_large(MobileNetV3Options options = {});
EBB_API MobileNetV3 mobilenet_v3_small(MobileNetV3Options options = {});

}  // namespace ebb::models
