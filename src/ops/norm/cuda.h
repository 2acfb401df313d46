// Functions of the normalizations that one device source defines and another one calls.
#pragma once

#include "kernel/lines.h"
#include "ops/norm/kernels.h"

namespace ebb::cuda {

/// Compute batch_norm_train() and batch_norm_backward() with cuDNN (kernel/cuda/dnn.h). cuDNN does not write
/// the variance. If cuDNN has no algorithm, both functions do nothing and return false.
bool batch_norm_train_by_library(NdArray& out, kernels::BatchStatistics& stats, const NdArray& x,
                                 const NdArray& weight, const NdArray& bias, const kernels::NormShape& shape,
                                 double eps);
bool batch_norm_backward_by_library(kernels::NormGrads& out, const NdArray& dy, const kernels::NormSaved& in,
                                    const kernels::NormShape& shape);

/// Computes out = (x - mean) rstd w + b.
void normalise_channels(NdArray& out, const kernels::NormSaved& in, const NdArray& bias,
                        const kernels::NormShape& shape);

/// Computes dx = scale (dy - slope (x - mean) - shift), where factors contains (scale, slope, shift) of all
/// channels.
void channel_input_grad(NdArray& dx, const NdArray& dy, const NdArray& x, const NdArray& mean,
                        const NdArray& factors, const kernels::NormShape& shape);

/// Computes dx of layer norm (or of RMS norm, if `centred` is false), and dweight and dbias if they are
/// defined. Returns false and does nothing if the rows are too long.
bool layer_norm_backward_one_pass(kernels::NormGrads& out, const NdArray& dy, const kernels::NormSaved& in,
                                  const Lines& lines, bool centred);

}  // namespace ebb::cuda
