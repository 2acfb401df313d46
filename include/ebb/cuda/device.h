// CUDA devices: which there are, which one new tensors go to (torch::cuda, c10::cuda).
#pragma once

#include <ebb/core/device.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace ebb::cuda {

/// What a device is.
struct DeviceProperties {
  std::string name;
  int major = 0, minor = 0;      ///< compute capability
  std::size_t total_memory = 0;  ///< bytes
  int multi_processor_count = 0;
  int max_threads_per_multi_processor = 0;
  int warp_size = 0;
  std::size_t l2_cache_size = 0;  ///< bytes
};

/// Throws ebb::Error for a device that is not there.
EBB_API DeviceProperties get_device_properties(std::int64_t device_index = -1);
/// The index of the calling thread's current device: where Device::CUDA without an index is. Throws when
/// there is none.
EBB_API std::int64_t current_device();
/// Makes a device the calling thread's current one. Throws for a device that is not there.
EBB_API void set_device(std::int64_t device_index);

/// Makes a device current for a lifetime; a device of the CPU changes nothing.
class EBB_API DeviceGuard {
 public:
  explicit DeviceGuard(Device device);
  ~DeviceGuard();
  DeviceGuard(const DeviceGuard&) = delete;
  DeviceGuard& operator=(const DeviceGuard&) = delete;

 private:
  std::int64_t previous_ = -1;
};

}  // namespace ebb::cuda
