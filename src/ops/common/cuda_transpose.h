// Transposing copies on CUDA, by tiles in shared memory.
#pragma once

#include "ops/common/transpose_plan.h"

namespace ebb::cuda {

/// Copies by tiles and returns true if the copy is a transpose that tiles suit. It also converts among Float,
/// Half and BFloat16.
bool transpose(NdArray& out, const NdArray& x, const ElementwisePlan<2>& walk);

}  // namespace ebb::cuda
