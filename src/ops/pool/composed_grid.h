// grid_sample composed of differentiable ops, for double backward.
#pragma once

#include <ebb/autograd/variable.h>

#include "ops/pool/resample_kernels.h"

namespace ebb::ops {

/// Returns the same values as the kernel grid_sample, with the same elements and weights (math_grid.h).
Variable composed_grid_sample(const Variable& input, const Variable& grid, const SampleGeometry& geometry);

}  // namespace ebb::ops
