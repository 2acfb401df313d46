// Batch normalization with cuDNN.
#pragma once

#include "ops/norm/kernels.h"

namespace ebb::cuda {

/// These functions compute the kernels of the same names with a library (kernel/cuda/dnn.h), which writes no
/// variance. They return false and do nothing if the library has no algorithm.
bool batch_norm_train_by_library(NdArray& out, kernels::BatchStatistics& stats, const NdArray& x,
                                 const NdArray& weight, const NdArray& bias, const kernels::NormShape& shape,
                                 double eps);
bool batch_norm_backward_by_library(kernels::NormGrads& out, const NdArray& dy, const kernels::NormSaved& in,
                                    const kernels::NormShape& shape);

}  // namespace ebb::cuda
