// Convolution on the device by a library (kernel/cuda/dnn.h).
#pragma once

#include "kernel/cuda/dnn.h"
#include "ops/conv/geometry.h"

namespace ebb::cuda::convolving {

/// Writes the array that `kind` names; with forward, bias (may be null) is added, and then relu applied.
/// Arrays that are read are copied where they begin at odd addresses, and a batch is cut where an array has
/// more elements than the library counts. Returns false where the library has no algorithm: what is written
/// then holds nothing of use.
bool by_library(DnnConv kind, const NdArray& in, const NdArray& weight, const NdArray& out,
                const ConvGeometry& geometry, const NdArray* bias = nullptr, bool relu = false);

}  // namespace ebb::cuda::convolving
