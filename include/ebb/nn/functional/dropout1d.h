// Dropout of whole channels of sequences, with options (torch.nn.functional, which libtorch lacks).
#pragma once

#include <ebb/nn/functional/dropout.h>

namespace ebb::nn {

using Dropout1dOptions = DropoutOptions;

namespace functional {

using Dropout1dFuncOptions = DropoutFuncOptions;

/// Whole channels of (N, C, L) or (C, L) are zeroed.
EBB_API Variable dropout1d(Variable input, const Dropout1dFuncOptions& options = {});

}  // namespace functional

}  // namespace ebb::nn
