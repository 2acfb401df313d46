// The last events of a device's memory, for those who ask later.
#pragma once

#include <cuda_runtime.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <deque>
#include <mutex>
#include <vector>

#include "core/memory_snapshot.h"

namespace ebb::cuda {

/// Off unless started; what is off costs a load an event.
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
  /// Keeps the last `most` from now on; 0: none, and forgets what there is.
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

}  // namespace ebb::cuda
