// Guards of the current device.
#pragma once

#include <c10/cuda/CUDAGuard.h>

namespace c10 {

/// Makes a device current for a lifetime; one of the CPU changes nothing.
using DeviceGuard = ebb::cuda::DeviceGuard;

/// The same for a device that may be absent.
class OptionalDeviceGuard {
 public:
  OptionalDeviceGuard() = default;
  explicit OptionalDeviceGuard(optional<Device> device) {
    if (device) guard_.emplace(*device);
  }
  void reset_device(Device device) {
    guard_.reset();
    guard_.emplace(device);
  }

 private:
  optional<DeviceGuard> guard_;
};

}  // namespace c10
