// Weights and images that scripts of tests/models/data compute as well, and the result files of these
// scripts.
#pragma once

#include <ebb/ebb.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

// Result files of PyTorch models.

namespace golden {

/// The norm of a tensor and four of its entries.
using Ends = std::vector<double>;
Ends ends(const ebb::Tensor& tensor);

/// Whether both agree up to `tolerance` times the norm.
bool close(const Ends& got, const Ends& wanted, double tolerance);

/// The recorded results of a model.
struct Case {
  Ends eval, train;
  std::vector<std::pair<std::string, Ends>> grads, buffers;
};
Case read_case(const std::string& name);

/// The rest of the line that starts with "KIND NAME".
std::istringstream read_line(const std::string& kind, const std::string& name);

// Weights and images that tests/models/data/make_vision.py computes with the same bits.

/// Values in [-1, 1) in double precision, a different series for each key.
ebb::Tensor noise(std::uint32_t key, ebb::IntArrayRef sizes);

/// Fills parameters and buffers, each with its position in the state as the key: weights of layers scaled by
/// fan-in, normalization layers near 1 and 0.
void fill(ebb::nn::Module& net);

}  // namespace golden
