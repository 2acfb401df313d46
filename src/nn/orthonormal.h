// orthonormal_columns: the Q of a QR decomposition with a unique sign.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb::nn {

/// Returns the Q of a = Q R whose R has no negative diagonal entry, which makes Q unique. `a` has no more
/// columns than rows.
Variable orthonormal_columns(const Variable& a);

}  // namespace ebb::nn
