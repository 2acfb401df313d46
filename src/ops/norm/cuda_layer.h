// Layer norm's backward in one reading of its inputs.
#pragma once

#include "kernel/lines.h"
#include "ops/norm/kernels.h"

namespace ebb::cuda {

/// dx with whichever of dweight and dbias are asked for, of RMS norm unless centred; false, and nothing done,
/// where rows are too long.
bool layer_norm_backward_at_once(kernels::NormGrads& out, const NdArray& dy, const kernels::NormSaved& in,
                                 const Lines& lines, bool centred);

}  // namespace ebb::cuda
