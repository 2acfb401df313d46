// Statistics of the caching allocator of CUDA devices.
#pragma once

#include <ebb/cuda/memory.h>

#include <c10/cuda/CUDAStream.h>

#include <algorithm>
#include <array>

namespace ebb::cuda::CUDACachingAllocator {

enum struct StatType : std::uint64_t { AGGREGATE = 0, SMALL_POOL = 1, LARGE_POOL = 2, NUM_TYPES = 3 };

/// The current and the peak number of bytes.
struct Stat {
  std::int64_t current = 0, peak = 0;
};
/// Only AGGREGATE, the first entry, is counted.
using StatArray = std::array<Stat, 3>;

struct DeviceStats {
  StatArray allocated_bytes;  ///< in live tensors
  StatArray reserved_bytes;   ///< allocated_bytes plus cached bytes; the peak is at least the peak of
                              ///< allocated_bytes
};

inline DeviceStats getDeviceStats(std::int64_t device_index) {
  const MemoryStats stats = memory_stats(device_index);
  const auto current = static_cast<std::int64_t>(stats.current), peak = static_cast<std::int64_t>(stats.peak);
  const std::int64_t reserved = current + static_cast<std::int64_t>(stats.cached);
  DeviceStats result;
  result.allocated_bytes[0] = {current, peak};
  result.reserved_bytes[0] = {reserved, std::max(reserved, peak)};
  return result;
}
inline void emptyCache() { empty_cache(); }
inline void resetPeakStats(std::int64_t device_index) { reset_peak(device_index); }
inline void setMemoryFraction(double fraction, std::int64_t device_index) {
  set_per_process_memory_fraction(fraction, device_index);
}

}  // namespace ebb::cuda::CUDACachingAllocator
