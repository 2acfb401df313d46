// Device memory from the driver's memory pools (cudaMallocAsync), instead of ebb's cache.
#pragma once

#include "cuda/caching_allocator.h"

namespace ebb::cuda {

/// The memory of one device, from CUDA's pool. The allocator has no list of its blocks. The pool keeps freed
/// memory until empty_cache(), and reuses it in stream order.
class AsyncAllocator {
 public:
  explicit AsyncAllocator(Device device);
  AsyncAllocator(const AsyncAllocator&) = delete;

  /// Throws ebb::Error with the memory statistics if there is no memory left.
  MemoryBlock* allocate(std::size_t bytes, cudaStream_t stream);
  /// Records that another stream uses the block, so that free() orders the release after the work of that
  /// stream. Thread-safe.
  void record_use(MemoryBlock* block, const StreamUse& use);
  /// Releases a block. While the calling thread captures a graph, the release is deferred. Otherwise the
  /// release, and the events that order it after other streams, would become part of the graph.
  void free(MemoryBlock* block) noexcept;
  void empty_cache();
  MemoryStats stats() const;
  MemoryFigures& figures() { return figures_; }

 private:
  void release(MemoryBlock* block) noexcept;
  void release_kept() noexcept;

  Device device_;
  cudaMemPool_t pool_ = nullptr;
  MemoryFigures figures_;
  std::mutex mutex_;
  std::vector<MemoryBlock*> kept_;  // freed during a capture
};

}  // namespace ebb::cuda
