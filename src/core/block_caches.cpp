// The caches of the CPU allocator. Small blocks have stacks of batches, slabs, and a trim that returns slabs
// to the system. Large blocks have one free list per size for reuse, and one list by age for eviction.
#include "core/block_caches.h"

#include "core/system.h"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <new>
#include <utility>

namespace ebb::detail {
namespace {

constexpr std::size_t kKeepSmallAlways = std::size_t{32} << 20;
// Below this size, the depot never trims and the memory limit is not read.
constexpr std::size_t kNeverTrim = std::size_t{1} << 20;
constexpr std::size_t kManySlabs = std::size_t{16} << 20;

}  // namespace

// The header of a slab. A slab begins at a multiple of its size.
struct alignas(kAlign) SmallBlocks::Slab {
  Slab* next;
  Slab* next_roomy = nullptr;
  bool carving = false;    // true while a thread divides the slab; `carved` is updated afterwards
  std::size_t carved = 0;  // bytes divided into blocks
  std::size_t free = 0;    // bytes of free blocks that a trim counted in this slab

  std::size_t left() const { return kSlabBytes - sizeof(Slab) - carved; }
  bool roomy() const { return !carving && left() >= kSmall; }
  bool whole() const { return !carving && free == carved; }
};

// The first block of a batch, while the batch is in the depot.
struct SmallBlocks::BatchHead : FreeBlock {
  BatchHead* next_batch;
  std::int64_t count;

  std::size_t bytes(std::size_t cls) const { return static_cast<std::size_t>(count) * class_bytes(cls); }
};

SmallBlocks::Slab* SmallBlocks::slab_of(const void* block) {
  return reinterpret_cast<Slab*>(reinterpret_cast<std::uintptr_t>(block) & ~(kSlabBytes - 1));
}

void SmallBlocks::push(std::size_t cls, Batch batch) {
  Stack& stack = stacks_[cls];
  stack.top = ::new (batch.head) BatchHead{{batch.head->next}, stack.top, batch.count.get()};
  stack.any.store(true, std::memory_order_relaxed);
  bytes_ += batch.bytes(cls);
}

Batch SmallBlocks::pop(std::size_t cls) {
  Stack& stack = stacks_[cls];
  BatchHead* head = stack.top;
  if (!head) return {};
  stack.top = head->next_batch;
  stack.any.store(stack.top != nullptr, std::memory_order_relaxed);
  bytes_ -= head->bytes(cls);
  return {head, head->count};
}

Batch SmallBlocks::take(std::size_t cls) {
  if (!stacks_[cls].any.load(std::memory_order_relaxed)) return {};
  std::lock_guard lock(mutex_);
  const Batch batch = pop(cls);
  use_.handed_out(batch.bytes(cls), slab_bytes_ - bytes_);
  return batch;
}

void SmallBlocks::put(std::size_t cls, Batch batch) {
  std::lock_guard lock(mutex_);
  push(cls, batch);
  since_trim_ += batch.bytes(cls);
  if (bytes_ <= kNeverTrim) return;
  const std::size_t keep = std::min(std::max(use_.get(), kKeepSmallAlways), memory_limit() / 8);
  if (bytes_ > keep && since_trim_ >= next_trim_) trim_locked();
}

bool SmallBlocks::open(OpenSlab& slab) {
  std::lock_guard lock(mutex_);
  if (slab.next) close_locked(slab);
  if (!roomy_ && !map_slabs()) return false;
  Slab* head = std::exchange(roomy_, roomy_->next_roomy);
  slab = {reinterpret_cast<char*>(head + 1) + head->carved, head->left()};
  head->carving = true;
  use_.handed_out(slab.left, slab_bytes_ - bytes_);
  return true;
}

// Maps one slab, or a huge page of slabs if the program has many.
bool SmallBlocks::map_slabs() {
  const std::size_t bytes = slab_bytes_ < kManySlabs ? kSlabBytes : kHugePage;
  char* pages = static_cast<char*>(map_pages(bytes, bytes));
  if (!pages) return false;
  for (char* at = pages + bytes; at != pages;) {
    slabs_ = ::new (at -= kSlabBytes) Slab{slabs_};
    slabs_->next_roomy = std::exchange(roomy_, slabs_);
  }
  slab_bytes_ += bytes;
  return true;
}

void SmallBlocks::close(OpenSlab& slab) {
  if (!slab.next) return;
  std::lock_guard lock(mutex_);
  close_locked(slab);
}

void SmallBlocks::close_locked(OpenSlab& slab) {
  Slab* head = slab_of(slab.next - 1);
  head->carved = kSlabBytes - sizeof(Slab) - slab.left;
  head->carving = false;
  if (head->roomy()) head->next_roomy = std::exchange(roomy_, head);
  slab = {};
}

void SmallBlocks::trim() {
  std::lock_guard lock(mutex_);
  trim_locked();
}

std::size_t SmallBlocks::bytes() {
  std::lock_guard lock(mutex_);
  return bytes_;
}

// Counts the free blocks of each slab, removes the blocks of entirely free slabs, and unmaps these slabs.
void SmallBlocks::trim_locked() {
  const std::size_t before = bytes_;
  for (std::size_t cls = 0; cls < kClasses; ++cls)
    for (const BatchHead* head = stacks_[cls].top; head; head = head->next_batch)
      for (const FreeBlock* block = head; block; block = block->next)
        slab_of(block)->free += class_bytes(cls);

  for (std::size_t cls = 0; cls < kClasses; ++cls) {
    BatchHead* head = std::exchange(stacks_[cls].top, nullptr);
    stacks_[cls].any.store(false, std::memory_order_relaxed);
    Batch kept;
    while (head) {
      BatchHead* next_batch = head->next_batch;
      bytes_ -= head->bytes(cls);
      for (FreeBlock *block = head, *next; block; block = next) {
        next = block->next;
        if (slab_of(block)->whole()) continue;
        kept.push(block);
        if (kept.count.get() == kBatch[cls]) push(cls, std::exchange(kept, {}));
      }
      head = next_batch;
    }
    if (kept.head) push(cls, kept);
  }

  roomy_ = nullptr;
  for (Slab** link = &slabs_; Slab* slab = *link;) {
    if (slab->whole()) {
      *link = slab->next;
      slab_bytes_ -= kSlabBytes;
      unmap_pages(slab, kSlabBytes);
      continue;
    }
    slab->free = 0;
    if (slab->roomy()) slab->next_roomy = std::exchange(roomy_, slab);
    link = &slab->next;
  }
  const std::size_t gone = before - bytes_;
  // If less than a quarter of the free memory could be returned, because most slabs have a block in use, the
  // next trim waits twice as long.
  next_trim_ = gone >= before / 4 ? before : 2 * next_trim_ + before;
  since_trim_ = 0;
}

namespace {

constexpr std::size_t kKeepAlways = std::size_t{32} << 20;
// Below this size of used and cached memory, nothing is evicted and the memory limit is not read.
constexpr std::size_t kNeverEvict = std::size_t{8} << 20;
// Blocks of at least this size have their own mapping, so that each can be returned to the system separately.
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
  Kept *before, *after;  // neighbours in the bin
  Kept *older, *newer;   // neighbours by age
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
    // Blocks of the next two bins are at most a quarter larger. Larger blocks would waste too much memory.
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
