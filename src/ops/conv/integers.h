// Convolutions of integers.
#pragma once

#include <ebb/autograd/variable.h>

#include "ops/conv/backward.h"
#include "ops/conv/geometry.h"

namespace ebb::ops {

/// The convolution of whole numbers, or with ConvKind::input its transpose, over the last `dims` axes of g.
/// Sums wrap around as those of integers do. Neither has a derivative.
Variable convolve_integers(ConvKind kind, const Variable& x, const Variable& weight, const ConvGeometry& g,
                           int dims);

}  // namespace ebb::ops
