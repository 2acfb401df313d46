// The two networks of a small DCGAN (Radford et al. 2016).
#pragma once

#include <ebb/ebb.h>

namespace nn = ebb::nn;

/// Initialises the weights of a network with N(0, 0.02^2), as in DCGAN.
inline nn::Sequential initialized(nn::Sequential network) {
  ebb::NoGradGuard no_grad;
  for (auto& parameter : network->named_parameters())
    if (parameter.value().dim() > 1) parameter.value().normal_(0, 0.02);
  return network;
}

/// Returns the generator: random codes [n, code] -> images [n, 1, rows, columns] with values in [-1, 1].
inline nn::Sequential make_generator(std::int64_t rows, std::int64_t columns, std::int64_t code,
                                     std::int64_t width) {
  const std::vector<std::int64_t> inner = {2 * width, rows / 4, columns / 4};
  return initialized(nn::Sequential(
      nn::Linear(nn::LinearOptions(code, inner[0] * inner[1] * inner[2]).bias(false)),
      nn::Unflatten(1, inner), nn::BatchNorm2d(2 * width), nn::ReLU(),
      nn::ConvTranspose2d(nn::ConvTranspose2dOptions(2 * width, width, 4).stride(2).padding(1).bias(false)),
      nn::BatchNorm2d(width), nn::ReLU(),
      nn::ConvTranspose2d(nn::ConvTranspose2dOptions(width, 1, 4).stride(2).padding(1)), nn::Tanh()));
}

/// Returns the discriminator: images -> logits [n] of the probability that they are real.
inline nn::Sequential make_discriminator(std::int64_t rows, std::int64_t columns, std::int64_t width) {
  const auto leaky = nn::LeakyReLUOptions().negative_slope(0.2);
  return initialized(nn::Sequential(
      nn::Conv2d(nn::Conv2dOptions(1, width, 4).stride(2).padding(1)), nn::LeakyReLU(leaky),
      nn::Conv2d(nn::Conv2dOptions(width, 2 * width, 4).stride(2).padding(1).bias(false)),
      nn::BatchNorm2d(2 * width), nn::LeakyReLU(leaky), nn::Flatten(),
      nn::Linear(2 * width * (rows / 4) * (columns / 4), 1), nn::Flatten(nn::FlattenOptions().start_dim(0))));
}
