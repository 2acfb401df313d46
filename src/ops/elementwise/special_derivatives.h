// Derivatives of special functions that are computed directly, as ops for the formulas that name them.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

/// The n-th derivative, n = 1 or 2, which can be differentiated again.
Variable erf_derivative(int n, const Variable& x);
Variable erfinv_derivative(int n, const Variable& x);
Variable bessel_i1_derivative(int n, const Variable& x);

}  // namespace ebb
