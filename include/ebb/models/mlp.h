// MLP: a multi-layer perceptron.
#pragma once

#include <ebb/nn.h>

#include <cstdint>
#include <vector>

namespace ebb::models {

/// Linear layers of the given widths, with ReLU and (if its probability is not 0) dropout between them
/// (torchvision.ops.MLP, without dropout after the last layer). Input [..., widths.front()], output [...,
/// widths.back()].
struct EBB_API MLPImpl : nn::SequentialImpl {
  explicit MLPImpl(const std::vector<std::int64_t>& widths, double dropout = 0);
};
EBB_MODULE(MLP);

}  // namespace ebb::models
