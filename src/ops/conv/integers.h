// Convolutions of integers.
#pragma once

#include <ebb/autograd/variable.h>

#include "ops/conv/backward.h"
#include "ops/conv/geometry.h"

namespace ebb::ops {

/// Convolves integers, or with ConvKind::input computes the transpose, over the last `dims` axes of g. Sums
/// wrap as integer sums do. Neither is differentiable.
Variable convolve_integers(ConvKind kind, const Variable& x, const Variable& weight, const ConvGeometry& g,
                           int dims);

}  // namespace ebb::ops
