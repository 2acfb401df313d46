// CUDA devices: their properties, and the current device (torch::cuda, c10::cuda).
#pragma once

#include <ebb/core/device.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace ebb::cuda {

/// Properties of a device.
struct DeviceProperties {
  std::string name;
  int major = 0, minor = 0;      ///< compute capability
  std::size_t total_memory = 0;  ///< bytes
  int multi_processor_count = 0;
  int max_threads_per_multi_processor = 0;
  int warp_size = 0;
  std::size_t l2_cache_size = 0;  ///< bytes
};

/// Returns the properties of a device. Throws ebb::Error if it does not exist.
EBB_API DeviceProperties get_device_properties(std::int64_t device_index = -1);
/// Returns the index of the calling thread's current device, which Device::CUDA without an index means.
/// Throws if there is no device.
EBB_API std::int64_t current_device();
/// Sets the calling thread's current device. Throws if the device does not exist.
EBB_API void set_device(std::int64_t device_index);

/// Sets the current device for a scope. A CPU device changes nothing.
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
