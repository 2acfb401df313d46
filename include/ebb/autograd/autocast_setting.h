// What of autocast goes along with work that is done later.
#pragma once

#include <ebb/core/api.h>
#include <ebb/core/device.h>
#include <ebb/core/dtype.h>

#include <cstdint>

namespace ebb::autograd {

/// For which devices autocast is on (a bit each), and its dtype on each.
struct EBB_API AutocastSetting {
  std::uint8_t devices = 0;
  DType dtypes[kDeviceTypes] = {};
  /// The calling thread's.
  static AutocastSetting now();
};

}  // namespace ebb::autograd
