// Large blocks: one free list per size for reuse, and one list by age for eviction.
#include "core/large_blocks.h"

#include "core/small_blocks.h"
#include "core/system.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>
#include <utility>

namespace ebb::detail {
namespace {

constexpr std::size_t kKeepAlways = std::size_t{32} << 20;
// Below this size of used and cached memory, nothing is evicted and the memory limit is not read.
constexpr std::size_t kNeverEvict = std::size_t{8} << 20;
// Blocks of at least this size have their own mapping, so that each can return to the system independently.
constexpr std::size_t kMapped = std::size_t{1} << 18;

void* system_take(std::size_t bytes) noexcept {
  if (bytes < kMapped) return std::aligned_alloc(kAlign, bytes);
  return map_pages(bytes, bytes < 2 * kHugePage ? kPage : kHugePage);
}
void system_free(void* data, std::size_t bytes) noexcept {
  bytes < kMapped ? std::free(data) : unmap_pages(data, bytes);
}

}  // namespace

struct LargeBlocks::Kept {
  std::size_t bytes;
  Kept *before, *after;  // in its bin
  Kept *older, *newer;   // by age
};

std::size_t LargeBlocks::round(std::size_t bytes) {
  const std::size_t step = std::max<std::size_t>(std::bit_floor(bytes) / 8, 512);
  return (bytes + step - 1) / step * step;
}

std::size_t LargeBlocks::bin_of(std::size_t bytes) {
  const std::size_t octave = std::bit_floor(bytes);
  return static_cast<std::size_t>(std::bit_width(bytes) - 1) * 8 + (bytes - octave) / (octave / 8);
}

void LargeBlocks::unlink(Kept* kept) {
  (kept->before ? kept->before->after : bins_[bin_of(kept->bytes)]) = kept->after;
  if (kept->after) kept->after->before = kept->before;
  (kept->older ? kept->older->newer : oldest_) = kept->newer;
  (kept->newer ? kept->newer->older : newest_) = kept->older;
  kept_ -= kept->bytes;
}

// Removes the oldest blocks until the cache is within its bound with `more` bytes in use. Returns them as a
// list linked by `after`, which the caller frees without the lock.
LargeBlocks::Kept* LargeBlocks::excess(std::size_t more) {
  const std::size_t in_use = live_ + more, peak = std::max(use_.get(), in_use);
  if (in_use + kept_ <= kNeverEvict) return nullptr;
  const std::size_t bound = std::min(peak + peak / 2 + kKeepAlways, memory_limit() / 8 * 7);
  Kept* chain = nullptr;
  while (oldest_ && in_use + kept_ > bound) {
    Kept* kept = oldest_;
    unlink(kept);
    kept->after = std::exchange(chain, kept);
  }
  return chain;
}

void LargeBlocks::free_chain(Kept* chain) noexcept {
  while (chain) {
    Kept* kept = std::exchange(chain, chain->after);
    system_free(kept, kept->bytes);
  }
}

Block LargeBlocks::take(std::size_t bytes) {
  Block block{nullptr, bytes};
  Kept* chain = nullptr;
  {
    std::lock_guard lock(mutex_);
    // Blocks of the next two bins are at most a quarter larger. Larger ones would waste too much memory.
    const std::size_t bin = bin_of(bytes);
    for (std::size_t i = bin; i < std::min(bin + 3, kBins) && !block.data; ++i)
      if (Kept* kept = bins_[i]) {
        unlink(kept);
        block = {kept, kept->bytes};
      }
    if (block.data) {
      count(block.bytes);
      return block;
    }
    chain = excess(bytes);
  }
  free_chain(chain);
  block.data = system_take(bytes);
  if (!block.data) {
    release();
    block.data = system_take(bytes);
  }
  if (block.data) {
    std::lock_guard lock(mutex_);
    count(bytes);
  }
  return block;
}

void LargeBlocks::count(std::size_t bytes) {
  live_ += bytes;
  use_.handed_out(bytes, live_);
}

void LargeBlocks::put(Block block) noexcept {
  Kept* chain = nullptr;
  {
    std::lock_guard lock(mutex_);
    Kept*& bin = bins_[bin_of(block.bytes)];
    auto* kept = ::new (block.data) Kept{block.bytes, nullptr, bin, newest_, nullptr};
    if (bin) bin->before = kept;
    bin = kept;
    (newest_ ? newest_->newer : oldest_) = kept;
    newest_ = kept;
    live_ -= block.bytes;
    kept_ += block.bytes;
    chain = excess(0);
  }
  free_chain(chain);
}

void LargeBlocks::release() noexcept {
  Kept* chain = nullptr;
  {
    std::lock_guard lock(mutex_);
    while (Kept* kept = oldest_) {
      unlink(kept);
      kept->after = std::exchange(chain, kept);
    }
  }
  free_chain(chain);
}

std::size_t LargeBlocks::bytes() {
  std::lock_guard lock(mutex_);
  return kept_;
}

}  // namespace ebb::detail
