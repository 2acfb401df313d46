// Results of ops that return values and indices along a dimension, with the gradient of the values.
#pragma once

#include <ebb/autograd/variable.h>

#include <tuple>

namespace ebb::ops {

/// Returns (values, indices) as tensors, where an op selected the values from self along `dim`. Records the
/// gradient of the values, which is added to the selected elements of self. Without keepdim the arrays do not
/// have the dimension `dim`. `name` is the name of the node.
std::tuple<Variable, Variable> picked(const Variable& self, NdArray values, NdArray indices, std::int64_t dim,
                                      bool keepdim, const char* name);

/// Divides grad evenly among the elements of self that equal `result`, or among the NaN elements if `result`
/// is NaN. `result` is the reduction of self over all dimensions.
Variable share_evenly(const Variable& grad, const Variable& self, const Variable& result);

}  // namespace ebb::ops
