// Device memory kept for reuse: cudaMalloc costs a hundred microseconds and waits for the device.
#pragma once

#include <ebb/cuda/cuda.h>

#include "cuda/memory_figures.h"
#include "cuda/reuse.h"
#include "cuda/virtual_memory.h"

#include <cuda_runtime.h>

#include <cstddef>
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

class CachingAllocator;

/// A piece of a segment, in use or free; neighbours of one segment are linked.
struct MemoryBlock {
  char* data = nullptr;
  std::size_t bytes = 0;
  std::size_t requested = 0;  // while in use
  cudaStream_t stream = nullptr;
  CachingAllocator* owner = nullptr;
  AddressRange* range = nullptr;  // of an expandable segment
  bool small = false;
  bool used = false;
  bool waiting = false;  // freed, while other streams may still use it
  bool mapped = true;    // else addresses without memory
  MemoryBlock* before = nullptr;
  MemoryBlock* after = nullptr;
  MemoryBlock* next = nullptr;  // of the same size, set aside like this one
  StreamUses uses;              // by streams other than its own
};

/// The memory of one device. A block belongs to the stream that it was allocated on: once freed it serves
/// that stream at once, whose order makes that safe, and no other; if other streams used it too, when they
/// are done. Requests are rounded to 512 bytes; those up to 1 MiB are cut from segments of 2 MiB, larger ones
/// from segments of 20 MiB or their own size. Neighbours that are free join; small blocks are first set aside
/// by size, for programs ask for the same sizes again and again, and join when no other piece fits. When the
/// device has no more, whole free segments go back to it and the request is tried again.
///
/// Where segments are expandable, a stream has one for small blocks and one for large ones, which reserves
/// addresses for all of the device's memory and gets memory at its end, or wherever some was given back.
class CachingAllocator {
 public:
  CachingAllocator(MemorySource source, Device device, bool expandable = false);
  /// One for captured graphs, whose figures are counted with those of the device's own, by the number of
  /// their pool. A block that other streams used is not used again: in a capture nothing tells when they are
  /// done. Memory goes back when nothing is allocated any more: replays use what captures freed.
  CachingAllocator(MemorySource source, CachingAllocator& general, std::uint64_t pool);
  CachingAllocator(const CachingAllocator&) = delete;
  ~CachingAllocator();

  /// Throws ebb::Error: with the figures when there is no memory left, with what the runtime said when it
  /// failed otherwise.
  MemoryBlock* allocate(std::size_t bytes, cudaStream_t stream);
  void free(MemoryBlock* block) noexcept;
  void record_use(MemoryBlock* block, StreamUse use);
  /// Returns every segment that is wholly free, and what is free of those that are expandable.
  void empty_cache();
  /// Nothing is allocated any more: the last block that is freed takes the allocator with it.
  static void retire(std::unique_ptr<CachingAllocator> allocator) noexcept;
  MemoryStats stats() const { return figures_->stats(); }
  MemoryFigures& figures() { return *figures_; }
  bool is_expandable() const { return expandable_; }
  /// Adds its segments to the snapshot, and those of the graphs' that are counted with it.
  void describe(ebb::detail::MemorySnapshot& snapshot);

 private:
  struct Smaller {
    bool operator()(const MemoryBlock* a, const MemoryBlock* b) const;
  };
  using FreeList = std::set<MemoryBlock*, Smaller>;
  struct Aside;   // the small blocks of one stream that were set aside
  struct Graphs;  // the allocators of graphs that are counted with this one

  Aside& aside_of(cudaStream_t stream);
  void join_aside();
  FreeList& list_of(const MemoryBlock& block) { return block.mapped ? free_[block.small] : unmapped_; }
  MemoryBlock* take_free(std::size_t bytes, bool small, cudaStream_t stream);
  MemoryBlock* more(std::size_t requested, std::size_t bytes, bool small, cudaStream_t stream);
  // Null where the device, or the limit, leaves no memory.
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
  FreeList unmapped_;                // of both
  std::set<MemoryBlock*> segments_;  // each by its first block
  std::vector<std::unique_ptr<Aside>> aside_;
  WaitingBlocks<MemoryBlock> waiting_;
  std::size_t live_ = 0;
  bool retired_ = false;
};

}  // namespace ebb::cuda
