// The depot of small blocks: stacks of batches, slabs, and the trim that returns slabs to the system.
#include "core/small_blocks.h"

#include "core/system.h"

#include <algorithm>
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
  bool carving = false;    // a thread carves the slab; `carved` is updated when it stops
  std::size_t carved = 0;  // bytes divided into blocks
  std::size_t free = 0;    // bytes of free blocks that a trim counted in this slab

  std::size_t left() const { return kSlabBytes - sizeof(Slab) - carved; }
  bool roomy() const { return !carving && left() >= kSmall; }
  bool whole() const { return !carving && free == carved; }
};

// The first block of a batch, while the batch is in the depot.
struct SmallBlocks::BatchHead : FreeBlock {
  BatchHead* next_batch;
  std::uint32_t count;
};

SmallBlocks::Slab* SmallBlocks::slab_of(const void* block) {
  return reinterpret_cast<Slab*>(reinterpret_cast<std::uintptr_t>(block) & ~(kSlabBytes - 1));
}

void SmallBlocks::push(std::size_t cls, Batch batch) {
  Stack& stack = stacks_[cls];
  stack.top = ::new (batch.head) BatchHead{{batch.head->next}, stack.top, batch.count};
  stack.any.store(true, std::memory_order_relaxed);
  bytes_ += batch.count * class_bytes(cls);
}

Batch SmallBlocks::pop(std::size_t cls) {
  Stack& stack = stacks_[cls];
  BatchHead* head = stack.top;
  if (!head) return {};
  stack.top = head->next_batch;
  stack.any.store(stack.top != nullptr, std::memory_order_relaxed);
  bytes_ -= head->count * class_bytes(cls);
  return {head, head->count};
}

Batch SmallBlocks::take(std::size_t cls) {
  if (!stacks_[cls].any.load(std::memory_order_relaxed)) return {};
  std::lock_guard lock(mutex_);
  const Batch batch = pop(cls);
  use_.handed_out(batch.count * class_bytes(cls), slab_bytes_ - bytes_);
  return batch;
}

std::size_t SmallBlocks::put(std::size_t cls, Batch batch) {
  std::lock_guard lock(mutex_);
  push(cls, batch);
  since_trim_ += batch.count * class_bytes(cls);
  if (bytes_ <= kNeverTrim) return 0;
  const std::size_t keep = std::min(std::max(use_.get(), kKeepSmallAlways), memory_limit() / 8);
  return bytes_ > keep && since_trim_ >= next_trim_ ? trim_locked() : 0;
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

std::size_t SmallBlocks::trim() {
  std::lock_guard lock(mutex_);
  return trim_locked();
}

// Counts the free blocks of each slab, removes the blocks of entirely free slabs, and unmaps these slabs.
std::size_t SmallBlocks::trim_locked() {
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
      bytes_ -= head->count * class_bytes(cls);
      for (FreeBlock *block = head, *next; block; block = next) {
        next = block->next;
        if (slab_of(block)->whole()) continue;
        kept.push(block);
        if (kept.count == kBatch[cls]) push(cls, std::exchange(kept, {}));
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
  // If little memory could be returned, because each slab has some block in use, the next trim waits twice as
  // long.
  next_trim_ = gone >= before / 4 ? before : 2 * next_trim_ + before;
  since_trim_ = 0;
  return gone;
}

}  // namespace ebb::detail
