// The subset of NVIDIA's cuda_runtime.h that ebb needs, for builds with an ordinary C++ compiler: the
// "device" is this process, and its memory is a protected part of the address space. Names and semantics are
// those of the CUDA Runtime API.
#pragma once

#include "cuda/emu/runtime/api.h"
#include "cuda/emu/runtime/block.h"
#include "cuda/emu/runtime/intrinsics.h"

#include <utility>

// Kernel launches.

enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };

/// Allows more dynamic shared memory than the default of 48 KiB for blocks of a kernel on the current device.
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);

namespace ebb::emu {

/// Returns cudaErrorInvalidValue if a block may not have that much dynamic shared memory on the current
/// device.
cudaError_t check_shared_bytes(const void* kernel, std::size_t bytes);
/// For tests: the number of cudaFuncSetAttribute calls.
long attribute_calls();

}  // namespace ebb::emu

struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  std::size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  bool independent = false;  // specific to the emulation: see run_grid
};

template <class... P, class... A>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(P...), A&&... args) {
  if (ebb::emu::null_launch) return cudaSuccess;
  if (const cudaError_t error =
          ebb::emu::check_shared_bytes(reinterpret_cast<const void*>(kernel), config->dynamicSmemBytes))
    return error;
  return ebb::emu::enqueue_action(config->stream, [c = *config, kernel,
                                                   ... values = static_cast<P>(std::forward<A>(args))] {
    ebb::emu::run_grid(c.gridDim, c.blockDim, c.dynamicSmemBytes, c.independent, [&] { kernel(values...); });
  });
}
