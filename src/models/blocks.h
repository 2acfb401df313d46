// Building blocks of vision models: convolution with norm and activation, and initial values.
#pragma once

#include <ebb/models/layers.h>

namespace ebb::models {

/// The parameters eps and momentum of all batch normalisations of a model.
struct NormSettings {
  double eps = 1e-5, momentum = 0.1;
};

/// Returns a module that computes the activation. For Activation::none it is nn::Identity.
nn::AnyModule make_activation(Activation activation);

/// Returns a convolution without bias, a batch normalisation and the activation, unless it is none
/// (torchvision.ops.Conv2dNormActivation). The padding preserves the size for stride 1 and odd kernels.
nn::Sequential conv_norm_activation(nn::Conv2dOptions conv, NormSettings norm, Activation activation);

/// Returns the multiple of 8 nearest to `channels`, but at least 0.9 * channels (_make_divisible of
/// torchvision).
std::int64_t divisible_by_8(double channels);

/// Initialises the net like torchvision, in the order of its modules. Weights of convolutions are drawn from
/// N(0, 2 / fan_out), and their biases are 0. Weights and biases of normalisations are 1 and 0. `linear`
/// initialises linear layers.
void initialize(nn::Module& net, void (*linear)(nn::LinearImpl& layer));

}  // namespace ebb::models
