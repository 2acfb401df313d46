// The map kernels that convert between element types.
#pragma once

#include "kernel/cuda/map.h"

namespace ebb::cuda {

/// Return the kernels that convert to an integer dtype or bool, and to a floating dtype.
const MapKernels<2>& convert_to_integral(DType to, DType from);
const MapKernels<2>& convert_to_floating(DType to, DType from);

}  // namespace ebb::cuda
