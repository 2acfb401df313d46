// Building blocks of vision models: convolution with norm and activation, and initial values.
#pragma once

#include <ebb/models/layers.h>

namespace ebb::models {

/// eps and momentum of all batch normalisations of a model.
struct NormSettings {
  double eps = 1e-5, momentum = 0.1;
};

/// Returns a module that computes the activation; nn::Identity for Activation::none.
nn::AnyModule make_activation(Activation activation);

/// Returns a convolution without bias, a batch normalisation and, if there is one, the activation
/// (torchvision.ops.Conv2dNormActivation). The padding preserves the size for stride 1 and odd kernels.
nn::Sequential conv_norm_activation(nn::Conv2dOptions conv, NormSettings norm, Activation activation);

/// Returns the multiple of 8 nearest to `channels`, but at least 0.9 * channels (_make_divisible of
/// torchvision).
std::int64_t divisible_by_8(double channels);

/// Initialises the net like torchvision, in the order of its modules: N(0, 2 / fan_out) for weights of
/// convolutions, 0 for their biases, 1 and 0 for normalisations, and `linear` for linear layers.
void initialize(nn::Module& net, void (*linear)(nn::LinearImpl& layer));

}  // namespace ebb::models
