// Dropouts with options (torch::nn::functional).
#pragma once

#include <ebb/nn/options/dropout.h>

namespace ebb::nn::functional {

EBB_API Variable dropout(Variable input, const DropoutFuncOptions& options = {});
/// Whole channels are zeroed.
EBB_API Variable dropout2d(Variable input, const Dropout2dFuncOptions& options = {});
EBB_API Variable dropout3d(Variable input, const Dropout3dFuncOptions& options = {});
/// Keeps mean and variance of SELU's outputs (Klambauer et al. 2017).
EBB_API Variable alpha_dropout(Variable input, const AlphaDropoutFuncOptions& options = {});
EBB_API Variable feature_alpha_dropout(Variable input, const FeatureAlphaDropoutFuncOptions& options = {});

}  // namespace ebb::nn::functional
