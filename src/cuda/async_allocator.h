// Device memory from the driver's own pools (cudaMallocAsync), in place of ebb's cache.
#pragma once

#include "cuda/caching_allocator.h"

namespace ebb::cuda {

/// The memory of one device. Blocks have no owner. The pool keeps what is freed, in the order of the streams,
/// until empty_cache().
class AsyncAllocator {
 public:
  explicit AsyncAllocator(Device device);
  AsyncAllocator(const AsyncAllocator&) = delete;

  /// Throws ebb::Error with the figures when there is no memory left.
  MemoryBlock* allocate(std::size_t bytes, cudaStream_t stream);
  /// The block is used by work of another stream, which its release must wait for. Threads may say so at
  /// once.
  void record_use(MemoryBlock* block, const StreamUse& use);
  /// While the calling thread captures a graph the block is kept for later: its release, and the events that
  /// order it behind other streams, would become part of the graph.
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
