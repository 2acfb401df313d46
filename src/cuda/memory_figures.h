// What the allocators of one device have given out together, and may.
#pragma once

#include <ebb/core/allocator.h>
#include <ebb/core/device.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "cuda/memory_trace.h"

namespace ebb::cuda {

struct MemoryFigures {
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

  std::atomic<std::size_t> current{0}, peak{0}, reserved{0};
  std::atomic<std::int64_t> allocations{0};
  std::atomic<std::size_t> limit{kNoLimit};  // of what is reserved
  std::atomic<double> fraction{1};           // of the device's memory: where the limit comes from
  MemoryTrace trace;

  void add(std::size_t bytes) {
    const std::size_t now = current.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    for (std::size_t most = peak.load(std::memory_order_relaxed);
         now > most && !peak.compare_exchange_weak(most, now, std::memory_order_relaxed);) {
    }
    allocations.fetch_add(1, std::memory_order_relaxed);
  }
  /// Counts bytes as reserved unless that would pass the limit.
  bool reserve(std::size_t bytes) {
    if (reserved.fetch_add(bytes) + bytes <= limit.load(std::memory_order_relaxed)) return true;
    reserved -= bytes;
    return false;
  }
  MemoryStats stats() const { return {current, peak, reserved - current, allocations}; }
  void reset_peak() { peak = current.load(); }
};

/// Throws ebb::Error: no `bytes` were to be had, and what the device's memory is taken by.
[[noreturn]] void fail_out_of_memory(Device device, std::size_t bytes, const MemoryFigures& figures,
                                     const MemoryStats& stats, std::size_t free, std::size_t total);

}  // namespace ebb::cuda
