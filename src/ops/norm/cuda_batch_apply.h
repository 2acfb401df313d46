// Elementwise kernels of batch_norm with factors for each channel.
#pragma once

#include "ops/norm/kernels.h"

namespace ebb::cuda {

/// Computes out = (x - mean) rstd w + b.
void normalise_channels(NdArray& out, const kernels::NormSaved& in, const NdArray& bias,
                        const kernels::NormShape& shape);

/// Computes dx = scale (dy - slope (x - mean) - shift), where factors = (scale, slope, shift) of all
/// channels.
void channel_input_grad(NdArray& dx, const NdArray& dy, const NdArray& x, const NdArray& mean,
                        const NdArray& factors, const kernels::NormShape& shape);

}  // namespace ebb::cuda
