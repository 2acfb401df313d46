// Guards of the current device.
#pragma once

#include <c10/cuda/CUDAGuard.h>

namespace c10 {

/// Sets the current device for a scope. A CPU device changes nothing.
using DeviceGuard = ebb::cuda::DeviceGuard;

/// A DeviceGuard for a device that may be absent.
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
