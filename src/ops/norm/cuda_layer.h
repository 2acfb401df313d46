// The backward pass of layer_norm with one read of its inputs.
#pragma once

#include "kernel/lines.h"
#include "ops/norm/kernels.h"

namespace ebb::cuda {

/// Computes dx and those of dweight and dbias that are defined, of RMS norm if not centred. Returns false and
/// does nothing if the rows are too long.
bool layer_norm_backward_one_pass(kernels::NormGrads& out, const NdArray& dy, const kernels::NormSaved& in,
                                  const Lines& lines, bool centred);

}  // namespace ebb::cuda
