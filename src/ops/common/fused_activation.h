// Records an activation that was computed by a fused kernel.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb::ops {

/// Records `result` as relu(self). Only the history of `self` is used, so the elements of `self` need not
/// exist.
Variable recorded_relu(const Variable& self, NdArray result);
/// Records `result` as gelu(self, "tanh").
Variable recorded_gelu_tanh(const Variable& self, NdArray result);

}  // namespace ebb::ops
