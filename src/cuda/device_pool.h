// Pools for reusing objects that are expensive to create.
#pragma once

#include "cuda/runtime.h"

#include <array>
#include <mutex>
#include <vector>

namespace ebb::cuda {

/// The idle handles of each device. The pool never destroys handles, so it must not itself be destroyed.
template <class Handle>
class DevicePool {
 public:
  /// Returns an idle handle, or the result of make() if no handle is idle.
  template <class Make>
  Handle take(Device device, const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      auto& idle = idle_of(device);
      if (!idle.empty()) {
        const Handle handle = idle.back();
        idle.pop_back();
        return handle;
      }
    }
    const DeviceScope scope(device);
    return make();
  }
  void give(Device device, Handle handle) noexcept {
    const std::lock_guard lock(mutex_);
    idle_of(device).push_back(handle);
  }

 private:
  std::vector<Handle>& idle_of(Device device) { return idle_[device.index()]; }

  std::mutex mutex_;
  std::array<std::vector<Handle>, kMaxDevices> idle_;
};

}  // namespace ebb::cuda
