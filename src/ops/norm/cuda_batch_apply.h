// Elementwise work of batch norm: arithmetic with some numbers a channel.
#pragma once

#include "ops/norm/kernels.h"

namespace ebb::cuda {

/// out = (x - mean) rstd w + b.
void normalise_channels(NdArray& out, const kernels::NormSaved& in, const NdArray& bias,
                        const kernels::NormShape& shape);

/// dx = scale (dy - slope (x - mean) - shift), with factors = (scale, slope, shift) of all channels.
void channel_input_grad(NdArray& dx, const NdArray& dy, const NdArray& x, const NdArray& mean,
                        const NdArray& factors, const kernels::NormShape& shape);

}  // namespace ebb::cuda
