// The map kernels that convert between element types.
#pragma once

#include "kernel/cuda/map.h"

namespace ebb::cuda {

/// Return the kernels that convert from `from` to `to`, which is an integer dtype or Bool in the first
/// function and a floating dtype in the second.
const MapKernels<2>& convert_to_integral(DType to, DType from);
const MapKernels<2>& convert_to_floating(DType to, DType from);

}  // namespace ebb::cuda
