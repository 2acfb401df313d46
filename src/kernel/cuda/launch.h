// From a CUDA kernel function to a launch on a device's current stream. For .cu files.
#pragma once

#include <ebb/core/device.h>

#include "kernel/cuda/device.h"

#include <cuda_runtime.h>

#include <type_traits>

namespace ebb::cuda {

/// Blocks and threads of a launch, and the dynamic shared memory of a block in bytes.
struct Grid {
  dim3 blocks;
  dim3 threads;
  std::size_t shared_bytes = 0;
};

/// Blocks of `threads` that cover `count` units, at least one.
inline Grid grid_for(std::int64_t count, unsigned threads) {
  return {dim3(static_cast<unsigned>(count <= threads ? 1 : (count + threads - 1) / threads)), dim3(threads)};
}

namespace detail {

constexpr std::size_t kPlainSharedBytes = 48 << 10;  // more must be asked for

/// Lets blocks of the kernel have so much dynamic shared memory on the calling thread's device, which is
/// `device`. The driver is asked once for each kernel, and again where more is wanted.
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
/// The same for kernels whose threads use neither barriers nor shuffles nor shared memory: the emulation is
/// quicker.
template <class... P>
void launch_independent(Device device, const Grid& grid, void (*kernel)(P...),
                        const std::type_identity_t<P>&... args) {
  detail::launch<P...>(device, grid, true, kernel, args...);
}

}  // namespace ebb::cuda
