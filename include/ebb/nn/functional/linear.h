// Linear maps (torch::nn::functional).
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb::nn::functional {

/// input weight^T + bias, for weight (out, in).
EBB_API Variable linear(const Variable& input, const Variable& weight, const Variable& bias = {});
/// x1^T W_k x2 + b_k for every k, for weight (out, in1, in2).
EBB_API Variable bilinear(const Variable& input1, const Variable& input2, const Variable& weight,
                          const Variable& bias = {});

}  // namespace ebb::nn::functional
