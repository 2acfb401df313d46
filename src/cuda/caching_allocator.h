// The caching allocator of device memory, and the memory statistics, limit and event history of one device,
// shared by its allocators. Freed memory is cached, because cudaMalloc takes a hundred microseconds and waits
// for the device.
#pragma once

#include <ebb/core/allocator.h>
#include <ebb/core/device.h>
#include <ebb/cuda/cuda.h>

#include "core/memory_snapshot.h"
#include "cuda/reuse.h"
#include "cuda/virtual_memory.h"

#include <cuda_runtime.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace ebb::cuda {

/// The history of events. It is off until start(). While it is off, an event costs one memory load.
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
  /// Starts a new history of the last `most` events. If `most` is 0, stops and drops the history.
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
  std::atomic<std::size_t> limit{kNoLimit};  // limit of the reserved memory
  std::atomic<double> fraction{1};           // fraction of the device's memory; determines the limit
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

/// Throws the ebb::Error that `bytes` could not be allocated. The message contains a summary of the device's
/// memory use.
[[noreturn]] void fail_out_of_memory(Device device, std::size_t bytes, const MemoryFigures& figures,
                                     const MemoryStats& stats, std::size_t free, std::size_t total);

/// The functions from which an allocator gets memory; tests replace them.
struct MemorySource {
  cudaError_t (*allocate)(void** pointer, std::size_t bytes);
  cudaError_t (*free)(void* pointer);
  cudaError_t (*memory)(std::size_t* free, std::size_t* total);
};

class CachingAllocator;

/// A block is a part of a segment, in use or free. The blocks of a segment are linked in address order.
struct MemoryBlock {
  char* data = nullptr;
  std::size_t bytes = 0;
  std::size_t requested = 0;  // while in use
  cudaStream_t stream = nullptr;
  CachingAllocator* owner = nullptr;
  AddressRange* range = nullptr;  // set for an expandable segment
  bool small = false;
  bool used = false;
  bool waiting = false;  // freed, but other streams may still use it
  bool mapped = true;    // false: addresses without memory
  MemoryBlock* before = nullptr;
  MemoryBlock* after = nullptr;
  MemoryBlock* next = nullptr;  // the next block of the same size that was set aside
  StreamUses uses;              // uses by streams other than `stream`
};

/// The memory of one device. A block belongs to the stream on which it was allocated. After it is freed, it
/// is reused immediately, but only on this stream, which is safe because of stream order. If other streams
/// have also used it, it is reused only after their work. Requests are rounded to 512 bytes. Blocks up to 1
/// MiB are split from segments of 2 MiB. Larger blocks are split from segments of 20 MiB, or have segments of
/// their own size. Adjacent free blocks are merged. Freed small blocks are first set aside by size, because
/// programs request the same sizes repeatedly. They are merged with their neighbours only if no other block
/// fits. If the device has no memory left, entirely free segments are returned to it and the request is
/// repeated.
///
/// With expandable segments, each stream has one segment for small blocks and one for large ones. A segment
/// reserves addresses for all of the device's memory. Memory is mapped at the end of its mapped part, or at
/// addresses whose memory was returned to the device.
class CachingAllocator {
 public:
  CachingAllocator(MemorySource source, Device device, bool expandable = false);
  /// Creates an allocator for captured graphs. The device's statistics include its memory, under the number
  /// `pool`. A block that other streams used is not reused, because events that are recorded in a capture do
  /// not show when these streams have finished. Memory is returned only when nothing is allocated any more,
  /// because replays also use memory that captures freed.
  CachingAllocator(MemorySource source, CachingAllocator& general, std::uint64_t pool);
  CachingAllocator(const CachingAllocator&) = delete;
  ~CachingAllocator();

  /// Throws ebb::Error if it fails. If there is no memory left, the message contains a summary of the memory
  /// use; for another failure, it contains the runtime's message.
  MemoryBlock* allocate(std::size_t bytes, cudaStream_t stream);
  void free(MemoryBlock* block) noexcept;
  void record_use(MemoryBlock* block, StreamUse use);
  /// Returns every entirely free segment to the device, and also the free granules of expandable segments.
  void empty_cache();
  /// Declares that nothing more will be allocated. The allocator is destroyed when its last block is freed.
  static void retire(std::unique_ptr<CachingAllocator> allocator) noexcept;
  MemoryStats stats() const { return figures_->stats(); }
  MemoryFigures& figures() { return *figures_; }
  bool is_expandable() const { return expandable_; }
  /// Adds the segments of this allocator, and of its graph allocators, to the snapshot.
  void describe(ebb::detail::MemorySnapshot& snapshot);

 private:
  struct Smaller {
    bool operator()(const MemoryBlock* a, const MemoryBlock* b) const;
  };
  using FreeList = std::set<MemoryBlock*, Smaller>;
  struct Aside;   // the small blocks of one stream that were set aside
  struct Graphs;  // the graph allocators whose statistics this allocator includes

  Aside& aside_of(cudaStream_t stream);
  void join_aside();
  FreeList& list_of(const MemoryBlock& block) { return block.mapped ? free_[block.small] : unmapped_; }
  MemoryBlock* take_free(std::size_t bytes, bool small, cudaStream_t stream);
  MemoryBlock* more(std::size_t requested, std::size_t bytes, bool small, cudaStream_t stream);
  // Returns null if the device or the limit leaves no memory.
  MemoryBlock* new_segment(std::size_t bytes, bool small, cudaStream_t stream);
  MemoryBlock* split_off(MemoryBlock* block, std::size_t bytes);
  MemoryBlock* join(MemoryBlock* block, MemoryBlock* neighbour);
  MemoryBlock* joined_with_neighbours(MemoryBlock* block);
  void give_back(MemoryBlock* block);
  void release_segments();
  void describe_own(ebb::detail::MemorySnapshot& snapshot);

  // Expandable segments (expandable_segments.cpp).
  MemoryBlock* new_range(std::size_t bytes, bool small, cudaStream_t stream);
  MemoryBlock* place_for(std::size_t bytes, bool small, cudaStream_t stream);
  bool map_front(MemoryBlock* block, std::size_t bytes);
  MemoryBlock* expand(std::size_t bytes, bool small, cudaStream_t stream);
  void unmap_free();
  void unmap_inside(MemoryBlock* block);

  mutable std::mutex mutex_;
  MemorySource source_;
  Device device_;
  bool expandable_ = false;
  CachingAllocator* general_ = nullptr;
  std::uint64_t pool_ = 0;
  std::shared_ptr<Graphs> graphs_;
  std::shared_ptr<MemoryFigures> figures_;
  FreeList free_[2];                 // large, small
  FreeList unmapped_;                // unmapped blocks, large and small
  std::set<MemoryBlock*> segments_;  // first blocks of the segments
  std::vector<std::unique_ptr<Aside>> aside_;
  WaitingBlocks<MemoryBlock> waiting_;
  std::size_t live_ = 0;
  bool retired_ = false;
};

}  // namespace ebb::cuda
