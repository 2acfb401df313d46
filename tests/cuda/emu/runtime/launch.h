// Kernel launches of the emulated runtime.
#pragma once

#include <utility>

#include "cuda/emu/runtime/api.h"
#include "cuda/emu/runtime/block.h"

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
  return ebb::emu::enqueue_action(config->stream, [c = *config, kernel,
                                                   ... values = static_cast<P>(std::forward<A>(args))] {
    ebb::emu::run_grid(c.gridDim, c.blockDim, c.dynamicSmemBytes, c.independent, [&] { kernel(values...); });
  });
}
