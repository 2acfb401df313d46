// Lists of tensors that one launch processes.
#pragma once

#include <ebb/core/device.h>
#include <ebb/core/dtype.h>

#include <array>
#include <cstdint>
#include <span>

namespace ebb {

/// The arrays of one entry, for example a parameter, its gradient and its moments: `count` contiguous
/// elements each.
struct TensorEntry {
  std::array<void*, 6> at{};
  std::int64_t count = 0;
};

/// Entries of one dtype on one device.
struct EntryList {
  Device device;
  DType dtype;
  std::span<const TensorEntry> entries;
};

}  // namespace ebb
