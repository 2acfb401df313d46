// Device memory kept for reuse: cudaMalloc costs a hundred microseconds and waits for the device.
#pragma once

#include <cuda_runtime.h>
#include <ebb/cuda/cuda.h>

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

#include "cuda/reuse.h"

namespace ebb::cuda {

/// Where an allocator gets memory from; tests bring their own.
struct MemorySource {
  cudaError_t (*allocate)(void** pointer, std::size_t bytes);
  cudaError_t (*free)(void* pointer);
  cudaError_t (*memory)(std::size_t* free, std::size_t* total);
};

class CachingAllocator;

/// A piece of a segment, in use or free; neighbours of one segment are linked.
struct MemoryBlock {
  char* data = nullptr;
  std::size_t bytes = 0;
  cudaStream_t stream = nullptr;
  CachingAllocator* owner = nullptr;
  bool small = false;
  bool used = false;
  MemoryBlock* before = nullptr;
  MemoryBlock* after = nullptr;
  MemoryBlock* next = nullptr;  // of the same size, set aside like this one
  StreamUses uses;              // by streams other than its own
};

/// What the allocators of one device have given out together.
struct MemoryFigures {
  std::atomic<std::size_t> current{0}, peak{0}, reserved{0};
  std::atomic<std::int64_t> allocations{0};

  void add(std::size_t bytes) {
    const std::size_t now = current.fetch_add(bytes, std::memory_order_relaxed) + bytes;
    for (std::size_t most = peak.load(std::memory_order_relaxed);
         now > most && !peak.compare_exchange_weak(most, now, std::memory_order_relaxed);) {
    }
    allocations.fetch_add(1, std::memory_order_relaxed);
  }
};

/// Throws ebb::Error: no `bytes` were to be had, and what the device's memory is taken by.
[[noreturn]] void fail_out_of_memory(Device device, std::size_t bytes, const MemoryStats& stats,
                                     std::size_t free, std::size_t total);

/// The memory of one device. A block belongs to the stream that it was allocated on: once freed it serves
/// that stream at once, whose order makes that safe, and no other; if other streams used it too, when they
/// are done. Requests are rounded to 512 bytes; those up to 1 MiB are cut from segments of 2 MiB, larger ones
/// from segments of 20 MiB or their own size. Neighbours that are free join; small blocks are first set aside
/// by size, for programs ask for the same sizes again and again, and join when no other piece fits. When the
/// device has no more, whole free segments go back to it and the request is tried again.
class CachingAllocator {
 public:
  CachingAllocator(MemorySource source, Device device);
  /// One for a captured graph, whose figures are counted with those of the device's own. A block that other
  /// streams used is not used again: in a capture nothing tells when they are done.
  CachingAllocator(MemorySource source, CachingAllocator& general);
  CachingAllocator(const CachingAllocator&) = delete;
  ~CachingAllocator();

  /// Throws ebb::Error: with the figures when there is no memory left, with what the runtime said when it
  /// failed otherwise.
  MemoryBlock* allocate(std::size_t bytes, cudaStream_t stream);
  void free(MemoryBlock* block) noexcept;
  void record_use(MemoryBlock* block, StreamUse use);
  /// Returns every segment that is wholly free.
  void empty_cache();
  /// Nothing is allocated any more: the last block that is freed takes the allocator with it.
  static void retire(std::unique_ptr<CachingAllocator> allocator) noexcept;
  MemoryStats stats() const;
  void reset_peak();

 private:
  struct Smaller {
    bool operator()(const MemoryBlock* a, const MemoryBlock* b) const;
  };
  using FreeList = std::set<MemoryBlock*, Smaller>;
  struct Aside;  // the small blocks of one stream that were set aside

  Aside& aside_of(cudaStream_t stream);
  void join_aside();
  FreeList& list_of(const MemoryBlock& block) { return free_[block.small]; }
  MemoryBlock* take_free(std::size_t bytes, bool small, cudaStream_t stream);
  MemoryBlock* new_segment(std::size_t bytes, bool small, cudaStream_t stream);
  void split(MemoryBlock* block, std::size_t bytes);
  MemoryBlock* join(MemoryBlock* block, MemoryBlock* neighbour);
  void give_back(MemoryBlock* block);
  void release_segments();

  mutable std::mutex mutex_;
  MemorySource source_;
  Device device_;
  CachingAllocator* general_ = nullptr;
  std::shared_ptr<MemoryFigures> figures_ = std::make_shared<MemoryFigures>();
  FreeList free_[2];  // large, small
  std::vector<std::unique_ptr<Aside>> aside_;
  WaitingBlocks<MemoryBlock> waiting_;
  std::size_t live_ = 0;
  bool retired_ = false;
};

}  // namespace ebb::cuda
