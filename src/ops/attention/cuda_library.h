// Attention by a library: each function is false where the library does not compute it, and has done nothing
// then.
#pragma once

#include "ops/attention/kernels.h"

namespace ebb::cuda::attending {

bool library_forward(ops::AttentionSaved& call);
/// All three gradients, whichever are asked for.
bool library_backward(ops::AttentionGrads& out, const NdArray& grad, const ops::AttentionSaved& call);

}  // namespace ebb::cuda::attending
