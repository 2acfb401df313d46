// Mixed dtypes: 16-bit inputs with Float parameters, which autocast produces.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb::ops {

/// Whether a 16-bit input has a weight or a bias in Float. The norm is then computed in Float, and the result
/// has the dtype of the input.
inline bool is_mixed(const Variable& input, const Variable& weight, const Variable& bias) {
  const auto is_float = [](const Variable& x) { return x.defined() && x.dtype() == kFloat; };
  return (input.dtype() == kHalf || input.dtype() == kBFloat16) && (is_float(weight) || is_float(bias));
}

}  // namespace ebb::ops
