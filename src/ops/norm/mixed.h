// Normalising in 16 bits by parameters in Float, as autocast meets them.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb::ops {

/// Whether an input in 16 bits comes with a weight or a bias in Float. It is then computed in Float, and the
/// result has the input's dtype.
inline bool is_mixed(const Variable& input, const Variable& weight, const Variable& bias) {
  const auto is_float = [](const Variable& x) { return x.defined() && x.dtype() == kFloat; };
  return (input.dtype() == kHalf || input.dtype() == kBFloat16) && (is_float(weight) || is_float(bias));
}

}  // namespace ebb::ops
