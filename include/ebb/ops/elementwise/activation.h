// Activation functions.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

/// max(x, 0); the derivative at 0 is 0. Throws for Bool.
EBB_API Variable relu(const Variable& self);
EBB_API Variable& relu_(const Variable& self);
/// x where x > 0, else weight x. `weight` has one element, or one for each channel (dimension 1 of self).
EBB_API Variable prelu(const Variable& self, const Variable& weight);
/// x where |x| > lambd, else 0.
EBB_API Variable hardshrink(const Variable& self, const Scalar& lambd = 0.5);

}  // namespace ebb
