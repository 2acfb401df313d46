// Transposes on CUDA, by tiles in shared memory.
#pragma once

#include "ops/common/transpose_plan.h"

namespace ebb::cuda {

/// The copy by tiles, if it is a transpose that they suit; conversions among Float, Half and BFloat16
/// included.
bool transpose(NdArray& out, const NdArray& x, const ElementwisePlan<2>& walk);

}  // namespace ebb::cuda
