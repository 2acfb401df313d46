// Ops that pick elements along a dimension: values with their gradient, and indices.
#pragma once

#include <ebb/autograd/variable.h>

#include <tuple>

namespace ebb::ops {

/// Wraps the values and indices picked from self along `dim` and records the gradient, which goes back to
/// where the values came from. Without keepdim the arrays have lost that dimension. `name` is the node's.
std::tuple<Variable, Variable> picked(const Variable& self, NdArray values, NdArray indices, std::int64_t dim,
                                      bool keepdim, const char* name);

/// grad shared evenly among the elements of self that equal `result` (or are NaN where it is), the result of
/// reducing self over all dimensions.
Variable share_evenly(const Variable& grad, const Variable& self, const Variable& result);

}  // namespace ebb::ops
