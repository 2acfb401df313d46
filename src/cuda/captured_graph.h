// Captured graphs: their memory, and the Philox states that their kernels read.
#pragma once

#include "cuda/caching_allocator.h"
#include "cuda/runtime.h"

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

namespace ebb::cuda {

struct GraphDraws;

/// The memory that several graphs share, and their capture streams. The capture streams are shared because
/// memory is reused only on the stream on which it was allocated. The pool exists as long as its handles and
/// graphs.
class GraphPoolMemory final : public ebb::detail::DeviceGraphPool {
 public:
  GraphPoolMemory() = default;
  GraphPoolMemory(const GraphPoolMemory&) = delete;
  ~GraphPoolMemory() override;

  CachingAllocator& on(Device device);

  /// Returns the stream for a capture. Throws if another capture of the pool is running.
  cudaStream_t begin_capture(Device device);
  void end_capture() noexcept { capturing_ = false; }

  /// Launches on a stream after all previous launches of this pool on any stream, so that replays of graphs
  /// that share memory do not overlap.
  template <class Launch>
  void in_order(Device device, cudaStream_t stream, const Launch& launch) {
    const std::lock_guard lock(order_);
    std::optional<cudaStream_t>& last = last_[device.index()];
    if (last) order_streams(device, *last, device, stream);
    launch();
    last = stream;
  }

 private:
  const std::uint64_t id_ = next_id();
  std::array<std::unique_ptr<CachingAllocator>, kMaxDevices> allocators_;
  std::array<cudaStream_t, kMaxDevices> streams_{};
  std::atomic<bool> capturing_{false};
  std::mutex order_;
  std::array<std::optional<cudaStream_t>, kMaxDevices> last_{};

  static std::uint64_t next_id();
};

/// The memory of one capture. It exists from the start of the capture until its graph is reset.
class GraphMemory {
 public:
  explicit GraphMemory(std::shared_ptr<GraphPoolMemory> pool) : pool_(std::move(pool)) {}
  GraphMemory(const GraphMemory&) = delete;

  CachingAllocator& on(Device device) { return pool_->on(device); }
  GraphPoolMemory& pool() { return *pool_; }

  /// The draws of the capture from each device's default generator.
  std::array<std::shared_ptr<GraphDraws>, kMaxDevices> draws;

 private:
  std::shared_ptr<GraphPoolMemory> pool_;
};

}  // namespace ebb::cuda
