// Convolution by cuDNN (kernel/cuda/dnn.h).
#pragma once

#include "kernel/cuda/dnn.h"
#include "ops/conv/kernels.h"

namespace ebb::cuda::convolving {

/// Computes the array that `kind` names. With forward, bias (may be null) is added, and then relu is applied.
/// Unaligned inputs are copied, and a batch is divided if an array has more elements than cuDNN can count.
/// Returns false if cuDNN has no algorithm; the contents of the output are then unspecified.
bool by_library(DnnConv kind, const NdArray& in, const NdArray& weight, const NdArray& out,
                const ConvGeometry& geometry, const NdArray* bias = nullptr, bool relu = false);

}  // namespace ebb::cuda::convolving
