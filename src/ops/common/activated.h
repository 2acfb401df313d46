// Activations whose results were computed before, with what they are applied to.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb::ops {

/// `result`, recorded as relu(self). Of self only the history is looked at: its elements need not be there.
Variable recorded_relu(const Variable& self, NdArray result);
/// `result`, recorded as gelu(self, "tanh").
Variable recorded_gelu_tanh(const Variable& self, NdArray result);

}  // namespace ebb::ops
