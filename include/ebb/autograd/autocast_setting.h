// AutocastSetting: the autocast state of a thread, saved for work that runs later.
#pragma once

#include <ebb/core/api.h>
#include <ebb/core/device.h>
#include <ebb/core/dtype.h>

#include <cstdint>

namespace ebb::autograd {

/// The devices for which autocast is on (one bit each), and the dtype of each device.
struct EBB_API AutocastSetting {
  std::uint8_t devices = 0;
  DType dtypes[kDeviceTypes] = {};
  /// Returns the setting of the calling thread.
  static AutocastSetting now();
};

}  // namespace ebb::autograd
