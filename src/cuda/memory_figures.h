// Memory statistics and limit of one device, shared by its allocators, and the history of their events.
#pragma once

#include <ebb/core/allocator.h>
#include <ebb/core/device.h>

#include "core/memory_snapshot.h"

#include <cuda_runtime.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <mutex>
#include <vector>

namespace ebb::cuda {

/// The history of events. It is off unless started; then an event costs one load.
class MemoryTrace {
 public:
  using Event = ebb::detail::MemorySnapshot::Event;
  using Action = ebb::detail::MemorySnapshot::Action;

  bool is_on() const { return on_.load(std::memory_order_relaxed); }
  void add(Action action, const void* address, std::size_t bytes, cudaStream_t stream) {
    if (is_on()) [[unlikely]]
      write(action, reinterpret_cast<std::uintptr_t>(address), bytes, stream);
  }
  void add_out_of_memory(std::size_t free, std::size_t bytes, cudaStream_t stream) {
    if (is_on()) write(Action::oom, free, bytes, stream);
  }
  /// Records the last `most` events from now on. With 0, stops and drops the history.
  void start(std::size_t most) {
    const std::lock_guard lock(mutex_);
    on_.store(most > 0, std::memory_order_relaxed);
    most_ = most;
    events_.clear();
  }
  std::vector<Event> events() const {
    const std::lock_guard lock(mutex_);
    return {events_.begin(), events_.end()};
  }

 private:
  void write(Action action, std::uint64_t address, std::size_t bytes, cudaStream_t stream) {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    const std::lock_guard lock(mutex_);
    if (most_ == 0) return;  // stopped meanwhile
    if (events_.size() == most_) events_.pop_front();
    events_.push_back({action, address, bytes, reinterpret_cast<std::uintptr_t>(stream),
                       std::chrono::duration_cast<std::chrono::microseconds>(now).count()});
  }

  std::atomic<bool> on_{false};
  mutable std::mutex mutex_;
  std::size_t most_ = 0;
  std::deque<Event> events_;
};

struct MemoryFigures {
  static constexpr std::size_t kNoLimit = std::numeric_limits<std::size_t>::max();

  std::atomic<std::size_t> current{0}, peak{0}, reserved{0};
  std::atomic<std::int64_t> allocations{0};
  std::atomic<std::size_t> limit{kNoLimit};  // of the reserved memory
  std::atomic<double> fraction{1};           // of the device's memory; determines the limit
  MemoryTrace trace;

  void add(std::size_t bytes) {
    const std::size_t now = current.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    for (std::size_t most = peak.load(std::memory_order_relaxed);
         now > most && !peak.compare_exchange_weak(most, now, std::memory_order_relaxed);) {
    }
    allocations.fetch_add(1, std::memory_order_relaxed);
  }
  /// Counts bytes as reserved. Returns false, without counting them, if that would exceed the limit.
  bool reserve(std::size_t bytes) {
    if (reserved.fetch_add(bytes) + bytes <= limit.load(std::memory_order_relaxed)) return true;
    reserved -= bytes;
    return false;
  }
  MemoryStats stats() const { return {current, peak, reserved - current, allocations}; }
  void reset_peak() { peak = current.load(); }
};

/// Throws ebb::Error: `bytes` could not be allocated, with a summary of the device's memory use.
[[noreturn]] void fail_out_of_memory(Device device, std::size_t bytes, const MemoryFigures& figures,
                                     const MemoryStats& stats, std::size_t free, std::size_t total);

}  // namespace ebb::cuda
