// The pool of page-locked host memory.
#include "cuda/pinned.h"

#include "cuda/runtime.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <memory>

namespace ebb::cuda {
namespace {

constexpr std::size_t kPage = 4096;

// Rounds to eighths of a power of two, so that blocks of similar sizes can be reused.
std::size_t rounded(std::size_t bytes) {
  const std::size_t step = std::max(std::bit_floor(bytes) / 8, kPage);
  return std::max((bytes + step - 1) / step * step, kPage);
}

}  // namespace

PinnedPool& pinned_pool() {
  static PinnedPool* const pool =
      new PinnedPool;  // never destroyed: tensors in static variables are freed last
  return *pool;
}

PinnedBlock* PinnedPool::allocate(std::size_t bytes) {
  EBB_CHECK(bytes <= std::numeric_limits<std::size_t>::max() / 2, "pinned memory: cannot allocate ",
            std::uint64_t{bytes}, " bytes. Use smaller tensors.");
  const std::size_t size = rounded(bytes);
  const std::lock_guard lock(mutex_);
  waiting_.collect(false, [this](PinnedBlock* block) { keep(block); });
  if (const auto found = idle_.find(size); found != idle_.end() && !found->second.empty()) {
    PinnedBlock* const block = found->second.back();
    found->second.pop_back();
    return block;
  }
  auto block = std::make_unique<PinnedBlock>();
  cudaError_t error = cudaHostAlloc(&block->data, size, cudaHostAllocPortable);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    release_idle();
    error = cudaHostAlloc(&block->data, size, cudaHostAllocPortable);
  }
  check(error, "cudaHostAlloc (pinned memory)");
  block->bytes = size;
  return block.release();
}

void PinnedPool::free(PinnedBlock* block) noexcept {
  const std::lock_guard lock(mutex_);
  if (block->uses.empty())
    keep(block);
  else
    waiting_.add(block, std::exchange(block->uses, {}));
}

void PinnedPool::record_use(PinnedBlock* block, StreamUse use) {
  const std::lock_guard lock(mutex_);
  add_use(block->uses, use);
}

void PinnedPool::release_idle() {
  for (auto& [size, blocks] : idle_) {
    for (PinnedBlock* block : blocks) {
      cudaFreeHost(block->data);
      delete block;
    }
  }
  idle_.clear();
}

void PinnedPool::empty_cache() {
  const std::lock_guard lock(mutex_);
  waiting_.collect(true, [this](PinnedBlock* block) { keep(block); });
  release_idle();
}

}  // namespace ebb::cuda
