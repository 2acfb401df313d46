// Attention by cuDNN. Each function returns false, without any effect, if the library does not support the
// call.
#pragma once

#include "ops/attention/kernels.h"

namespace ebb::cuda::attending {

bool library_forward(ops::AttentionSaved& call);
/// Computes all three gradients, even if only some are requested.
bool library_backward(ops::AttentionGrads& out, const NdArray& grad, const ops::AttentionSaved& call);

}  // namespace ebb::cuda::attending
