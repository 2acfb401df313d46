// Convolutions with options (torch::nn::functional).
#pragma once

#include <ebb/nn/options/conv.h>

namespace ebb::nn::functional {

EBB_API Variable conv1d(const Variable& input, const Variable& weight, const Conv1dFuncOptions& options = {});
EBB_API Variable conv2d(const Variable& input, const Variable& weight, const Conv2dFuncOptions& options = {});
EBB_API Variable conv3d(const Variable& input, const Variable& weight, const Conv3dFuncOptions& options = {});
EBB_API Variable conv_transpose1d(const Variable& input, const Variable& weight,
                                  const ConvTranspose1dFuncOptions& options = {});
EBB_API Variable conv_transpose2d(const Variable& input, const Variable& weight,
                                  const ConvTranspose2dFuncOptions& options = {});
EBB_API Variable conv_transpose3d(const Variable& input, const Variable& weight,
                                  const ConvTranspose3dFuncOptions& options = {});

}  // namespace ebb::nn::functional
