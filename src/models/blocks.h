// What vision models are put together from: convolutions with what follows them, and first values.
#pragma once

#include <ebb/models/layers.h>

namespace ebb::models {

/// eps and momentum of all batch normalisations of a model.
struct NormSettings {
  double eps = 1e-5, momentum = 0.1;
};

/// A module that computes the activation; Activation::none gives nn::Identity.
nn::AnyModule make_activation(Activation activation);

/// A convolution without bias, padded so that with stride 1 it keeps the size (of odd kernels), batch
/// normalisation, and the activation, if there is one (torchvision.ops.Conv2dNormActivation).
nn::Sequential conv_norm_activation(nn::Conv2dOptions conv, NormSettings norm, Activation activation);

/// The whole number of times 8 nearest to `channels`, but not less than nine tenths of it (_make_divisible of
/// torchvision).
std::int64_t divisible_by_8(double channels);

/// Gives the net torchvision's first values, in the order of its modules: N(0, 2 / fan_out) to weights of
/// convolutions and 0 to their biases, 1 and 0 to normalisations, and what `linear` does to linear layers.
void initialize(nn::Module& net, void (*linear)(nn::LinearImpl& layer));

}  // namespace ebb::models
