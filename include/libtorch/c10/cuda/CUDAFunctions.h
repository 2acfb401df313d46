// Number of CUDA devices and the current device.
#pragma once

#include <ebb/cuda/cuda.h>

#include <torch/csrc/namespaces.h>

namespace ebb::cuda {

/// Returns device_count(). Throws ebb::Error if there is no device.
inline std::size_t device_count_ensure_non_zero() {
  EBB_CHECK(device_count() > 0, "No CUDA GPUs are available: torch::cuda::is_available() is false.");
  return device_count();
}
inline void device_synchronize() { synchronize(); }
inline int warp_size() { return get_device_properties().warp_size; }

}  // namespace ebb::cuda
