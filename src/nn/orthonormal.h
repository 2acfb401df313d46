// Orthonormal columns.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb::nn {

/// The Q of a = Q R where the diagonal of R is not negative, which makes it unique; a has no more columns
/// than rows.
Variable orthonormal_columns(const Variable& a);

}  // namespace ebb::nn
