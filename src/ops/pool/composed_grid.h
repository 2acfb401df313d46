// Sampling at the points of a grid by differentiable ops: what gradients of gradients use.
#pragma once

#include <ebb/autograd/variable.h>

#include "ops/pool/resample_kernels.h"

namespace ebb::ops {

/// What the kernel grid_sample gives, of the same places and weights (math.h).
Variable composed_grid_sample(const Variable& input, const Variable& grid, const SampleGeometry& geometry);

}  // namespace ebb::ops
