// Launches a CUDA kernel function on a device's current stream. For .cu files.
#pragma once

#include <ebb/core/device.h>

#include "kernel/cuda/device.h"

#include <cuda_runtime.h>

#include <type_traits>

namespace ebb::cuda {

/// The blocks and threads of a launch, and the dynamic shared memory of a block in bytes.
struct Grid {
  dim3 blocks;
  dim3 threads;
  std::size_t shared_bytes = 0;
};

/// Returns a grid of blocks of `threads` threads that cover `count` units; at least one block.
inline Grid grid_for(std::int64_t count, unsigned threads) {
  return {dim3(static_cast<unsigned>(count <= threads ? 1 : (count + threads - 1) / threads)), dim3(threads)};
}

namespace detail {

constexpr std::size_t kPlainSharedBytes = 48 << 10;  // more requires allow_shared_bytes()

/// Allows the kernel's blocks to use `bytes` of dynamic shared memory on `device`, which must be the calling
/// thread's current device. Calls the driver only at the first call for a kernel, and when `bytes` is larger
/// than before.
void allow_shared_bytes(Device device, const void* kernel, std::size_t bytes);

template <class... P>
void launch(Device device, const Grid& grid, bool independent, void (*kernel)(P...), const P&... args) {
  const DeviceScope scope(device);
  cudaLaunchConfig_t config{};
  config.gridDim = grid.blocks;
  config.blockDim = grid.threads;
  config.dynamicSmemBytes = grid.shared_bytes;
  config.stream = current_stream(device);
#if defined(EBB_CUDA_EMU)
  config.independent = independent;
#else
  static_cast<void>(independent);
#endif
  if (grid.shared_bytes > kPlainSharedBytes) [[unlikely]]
    allow_shared_bytes(device, reinterpret_cast<const void*>(kernel), grid.shared_bytes);
  check(cudaLaunchKernelEx(&config, kernel, args...), "kernel launch");
}

}  // namespace detail

/// Runs the kernel on the device's current stream.
template <class... P>
void launch(Device device, const Grid& grid, void (*kernel)(P...), const std::type_identity_t<P>&... args) {
  detail::launch<P...>(device, grid, false, kernel, args...);
}
/// Runs a kernel whose threads use no barriers, shuffles or shared memory. The emulation runs such kernels
/// faster.
template <class... P>
void launch_independent(Device device, const Grid& grid, void (*kernel)(P...),
                        const std::type_identity_t<P>&... args) {
  detail::launch<P...>(device, grid, true, kernel, args...);
}

}  // namespace ebb::cuda
