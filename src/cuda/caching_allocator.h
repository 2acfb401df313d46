// Device memory kept for reuse: cudaMalloc costs a hundred microseconds and waits for the device.
#pragma once

#include <cuda_runtime.h>
#include <ebb/cuda/cuda.h>

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <vector>

namespace ebb::cuda {

/// Where an allocator gets memory from; tests bring their own.
struct MemorySource {
  cudaError_t (*allocate)(void** pointer, std::size_t bytes);
  cudaError_t (*free)(void* pointer);
  cudaError_t (*memory)(std::size_t* free, std::size_t* total);
};

/// A piece of a segment, in use or free; neighbours of one segment are linked.
struct MemoryBlock {
  char* data = nullptr;
  std::size_t bytes = 0;
  cudaStream_t stream = nullptr;
  bool small = false;
  bool used = false;
  MemoryBlock* before = nullptr;
  MemoryBlock* after = nullptr;
};

/// The memory of one device. A block belongs to the stream that it was allocated on: once freed it serves
/// that stream at once, whose order makes that safe, and no other. Requests are rounded to 512 bytes; those
/// up to 1 MiB are cut from segments of 2 MiB, larger ones from segments of 20 MiB or their own size.
/// Neighbours that are free join. When the device has no more, whole free segments go back to it and the
/// request is tried again.
class CachingAllocator {
 public:
  CachingAllocator(MemorySource source, int device) : source_(source), device_(device) {}
  CachingAllocator(const CachingAllocator&) = delete;

  /// Throws ebb::Error with the figures when there is no memory left.
  MemoryBlock* allocate(std::size_t bytes, cudaStream_t stream);
  void free(MemoryBlock* block) noexcept;
  /// Returns every segment that is wholly free.
  void empty_cache();
  MemoryStats stats() const;
  void reset_peak();

 private:
  struct Smaller {
    bool operator()(const MemoryBlock* a, const MemoryBlock* b) const;
  };
  using FreeList = std::set<MemoryBlock*, Smaller>;

  FreeList& list_of(const MemoryBlock& block) { return free_[block.small]; }
  MemoryBlock* take_free(std::size_t bytes, bool small, cudaStream_t stream);
  MemoryBlock* new_segment(std::size_t bytes, bool small, cudaStream_t stream);
  void split(MemoryBlock* block, std::size_t bytes);
  MemoryBlock* join(MemoryBlock* block, MemoryBlock* neighbour);
  void release_segments();

  mutable std::mutex mutex_;
  MemorySource source_;
  int device_;
  FreeList free_[2];  // large, small
  std::size_t current_ = 0, peak_ = 0, reserved_ = 0;
  std::int64_t allocations_ = 0;
};

}  // namespace ebb::cuda
