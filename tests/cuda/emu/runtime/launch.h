// Kernel launches of the emulated runtime.
#pragma once

#include "cuda/emu/runtime/api.h"
#include "cuda/emu/runtime/block.h"

#include <utility>

enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };

/// Lets blocks of a kernel have more dynamic shared memory on the current device than the 48 KiB of all.
cudaError_t cudaFuncSetAttribute(const void* kernel, cudaFuncAttribute attribute, int value);

namespace ebb::emu {

/// cudaErrorInvalidValue where a block may not have so much dynamic shared memory on the current device.
cudaError_t check_shared_bytes(const void* kernel, std::size_t bytes);
/// For tests: how often cudaFuncSetAttribute was called.
long attribute_calls();

}  // namespace ebb::emu

struct cudaLaunchConfig_t {
  dim3 gridDim;
  dim3 blockDim;
  std::size_t dynamicSmemBytes = 0;
  cudaStream_t stream = nullptr;
  bool independent = false;  // the emulation's own: see run_grid
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
