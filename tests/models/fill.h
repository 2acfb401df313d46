// Weights and images that tests/models/data/make_vision.py computes as well, to the last bit.
#pragma once

#include <ebb/ebb.h>

#include <cstdint>

namespace golden {

/// Numbers in [-1, 1), another series for each key, in double precision.
ebb::Tensor noise(std::uint32_t key, ebb::IntArrayRef sizes);

/// Fills parameters and buffers, each with the key that is its place in the state: weights of layers by their
/// fan-in, normalisations near 1 and 0.
void fill(ebb::nn::Module& net);

}  // namespace golden
