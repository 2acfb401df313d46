// The pool of page-locked host memory. To lock pages takes longer than to copy them, so freed blocks are
// reused.
#pragma once

#include "cuda/reuse.h"

#include <cstddef>
#include <map>
#include <mutex>
#include <vector>

namespace ebb::cuda {

struct PinnedBlock {
  void* data = nullptr;
  std::size_t bytes = 0;
  StreamUses uses;
};

/// A freed block is reused for a request of the same size, after the copies that use the block have finished.
class PinnedPool {
 public:
  PinnedPool() = default;
  PinnedPool(const PinnedPool&) = delete;

  PinnedBlock* allocate(std::size_t bytes);
  void free(PinnedBlock* block) noexcept;
  void record_use(PinnedBlock* block, StreamUse use);
  /// Waits for running copies and unlocks the free blocks.
  void empty_cache();

 private:
  void keep(PinnedBlock* block) { idle_[block->bytes].push_back(block); }
  void release_idle();

  std::mutex mutex_;
  std::map<std::size_t, std::vector<PinnedBlock*>> idle_;
  WaitingBlocks<PinnedBlock> waiting_;
};

PinnedPool& pinned_pool();

}  // namespace ebb::cuda
