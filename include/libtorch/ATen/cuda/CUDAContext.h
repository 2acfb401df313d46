// The current CUDA device and stream.
#pragma once

#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/cuda/CUDAStream.h>

namespace ebb::cuda {

inline std::size_t getNumGPUs() { return device_count(); }

}  // namespace ebb::cuda
