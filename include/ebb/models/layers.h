// SqueezeExcitation and StochasticDepth: layers shared by several vision models.
#pragma once

#include <ebb/nn.h>

#include <cstdint>

namespace ebb::models {

/// The activation function of a layer, chosen by an option.
enum class Activation : std::uint8_t { none, relu, silu, hardswish, sigmoid, hardsigmoid };

/// Options of SqueezeExcitation.
class EBB_API SqueezeExcitationOptions {
 public:
  SqueezeExcitationOptions(std::int64_t input_channels, std::int64_t squeeze_channels)
      : input_channels_(input_channels), squeeze_channels_(squeeze_channels) {}

  EBB_ARG(std::int64_t, input_channels);                        ///< channels of the input and the result
  EBB_ARG(std::int64_t, squeeze_channels);                      ///< channels between the two layers
  EBB_ARG(Activation, activation) = Activation::relu;           ///< activation between the two layers
  EBB_ARG(Activation, scale_activation) = Activation::sigmoid;  ///< activation that computes the factors
};

/// Scales each channel of (N, C, H, W) by a factor computed from the means of all channels: x *
/// scale_activation(fc2(activation(fc1(mean(x))))) (Hu, Shen & Sun 2018, arXiv:1709.01507;
/// torchvision.ops.SqueezeExcitation).
struct EBB_API SqueezeExcitationImpl : nn::Cloneable<SqueezeExcitationImpl> {
  SqueezeExcitationImpl(std::int64_t input_channels, std::int64_t squeeze_channels)
      : SqueezeExcitationImpl(SqueezeExcitationOptions(input_channels, squeeze_channels)) {}
  explicit SqueezeExcitationImpl(SqueezeExcitationOptions options_);
  void reset() override;
  Variable forward(const Variable& x);

  SqueezeExcitationOptions options;
  nn::AdaptiveAvgPool2d avgpool{nullptr};
  nn::Conv2d fc1{nullptr}, fc2{nullptr};
  nn::AnyModule activation, scale_activation;
};
EBB_MODULE(SqueezeExcitation);

/// In training, sets whole samples (along dimension 0) to zero with probability p and scales the others by 1
/// / (1 - p), so that residual branches are skipped at random. In evaluation, returns the input (Huang et al.
/// 2016, arXiv:1603.09382; torchvision.ops.StochasticDepth in the mode "row"). Throws for p outside [0, 1].
struct EBB_API StochasticDepthImpl : nn::Cloneable<StochasticDepthImpl> {
  explicit StochasticDepthImpl(double p_);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& x);

  double p;
};
EBB_MODULE(StochasticDepth);

}  // namespace ebb::models
