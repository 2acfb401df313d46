// Weights, images and files of numbers that the scripts of tests/models/data make or compute as well.
#pragma once

#include <ebb/ebb.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

// Files of numbers that PyTorch's models gave.

namespace golden {

/// The norm of a tensor and four of its entries.
using Ends = std::vector<double>;
Ends ends(const ebb::Tensor& tensor);

/// Whether both agree to a part of the norm.
bool close(const Ends& got, const Ends& wanted, double tolerance);

/// What a model gives.
struct Case {
  Ends eval, train;
  std::vector<std::pair<std::string, Ends>> grads, buffers;
};
Case read_case(const std::string& name);

/// What follows "KIND NAME" on its line.
std::istringstream read_line(const std::string& kind, const std::string& name);

// Weights and images that tests/models/data/make_vision.py computes as well, to the last bit.

/// Numbers in [-1, 1), another series for each key, in double precision.
ebb::Tensor noise(std::uint32_t key, ebb::IntArrayRef sizes);

/// Fills parameters and buffers, each with the key that is its place in the state: weights of layers by their
/// fan-in, normalisations near 1 and 0.
void fill(ebb::nn::Module& net);

}  // namespace golden
