// Derivatives of special functions that are computed directly. Formulas use them as ops.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

/// Returns the n-th derivative (n = 1 or 2), which is differentiable.
Variable erf_derivative(int n, const Variable& x);
Variable erfinv_derivative(int n, const Variable& x);
Variable bessel_i1_derivative(int n, const Variable& x);

}  // namespace ebb
