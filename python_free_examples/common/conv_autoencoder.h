// The convolutional encoder and decoder of autoencoder.cpp and vae.cpp.
#pragma once

#include <ebb/ebb.h>

#include <cstdint>
#include <vector>

namespace example {

/// Returns the encoder: images [n, 1, rows, columns] -> [n, outputs]. Two convolutions with stride 2 halve
/// the sides of the image, and a linear layer follows. `rows` and `columns` are multiples of 4.
inline ebb::nn::Sequential conv_encoder(std::int64_t rows, std::int64_t columns, std::int64_t outputs) {
  namespace nn = ebb::nn;
  return nn::Sequential(nn::Conv2d(nn::Conv2dOptions(1, 32, 3).stride(2).padding(1)), nn::ReLU(),
                        nn::Conv2d(nn::Conv2dOptions(32, 64, 3).stride(2).padding(1)), nn::ReLU(),
                        nn::Flatten(), nn::Linear(64 * (rows / 4) * (columns / 4), outputs));
}

/// Returns the decoder, the mirror image of the encoder: codes [n, code] -> [n, 1, rows, columns]. Its
/// outputs are logits: their sigmoid is an image.
inline ebb::nn::Sequential conv_decoder(std::int64_t rows, std::int64_t columns, std::int64_t code) {
  namespace nn = ebb::nn;
  return nn::Sequential(nn::Linear(code, 64 * (rows / 4) * (columns / 4)), nn::ReLU(),
                        nn::Unflatten(1, std::vector<std::int64_t>{64, rows / 4, columns / 4}),
                        nn::ConvTranspose2d(nn::ConvTranspose2dOptions(64, 32, 4).stride(2).padding(1)),
                        nn::ReLU(),
                        nn::ConvTranspose2d(nn::ConvTranspose2dOptions(32, 1, 4).stride(2).padding(1)));
}

}  // namespace example
