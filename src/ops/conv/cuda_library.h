// Convolution by cuDNN (kernel/cuda/dnn.h).
#pragma once

#include "kernel/cuda/dnn.h"
#include "ops/conv/kernels.h"

namespace ebb::cuda::convolving {

/// Computes the array that `kind` names. For `forward`, adds `bias` (may be null) and then applies relu if
/// `relu`. Unaligned inputs are copied. If an array has more elements than cuDNN can count, the batch is
/// divided. Returns false if cuDNN has no algorithm; the contents of the output are then unspecified.
bool by_library(DnnConv kind, const NdArray& in, const NdArray& weight, const NdArray& out,
                const ConvGeometry& geometry, const NdArray* bias = nullptr, bool relu = false);

}  // namespace ebb::cuda::convolving
