// Results of ops that return values and indices along a dimension, with the gradient of the values.
#pragma once

#include <ebb/autograd/variable.h>

#include <tuple>

namespace ebb::ops {

/// Wraps the values and indices that an op selected from self along `dim`, and records the gradient, which
/// goes to the selected elements. Without keepdim the arrays do not have that dimension. `name` is the name
/// of the node.
std::tuple<Variable, Variable> picked(const Variable& self, NdArray values, NdArray indices, std::int64_t dim,
                                      bool keepdim, const char* name);

/// Divides grad evenly among the elements of self that equal `result` (or are NaN if it is NaN). `result` is
/// the reduction of self over all dimensions.
Variable share_evenly(const Variable& grad, const Variable& self, const Variable& result);

}  // namespace ebb::ops
