// The caches of the CPU allocator: the depot of small blocks, which all threads share, and the cache of large
// blocks. The depot contains stacks of batches, and the slabs that contain the blocks. Large blocks are
// cached because a fresh mapping costs a page fault per 4 KiB of every large result.
#pragma once

#include "core/allocator.h"
#include "core/fork.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace ebb::detail {

/// Estimates the amount of memory that a cache will need again. It records the peak number of bytes in use
/// over the current and the previous period. A period ends when eight times its peak has been allocated; for
/// a training loop this takes several steps. The estimate therefore contains a loop's peak as long as the
/// loop runs, and drops older peaks.
class RecentPeak {
 public:
  /// Records that `bytes` more were allocated; `in_use` is the new total.
  void handed_out(std::size_t bytes, std::size_t in_use) {
    present_ = std::max(present_, in_use);
    volume_ += bytes;
    if (volume_ / 8 < present_) return;
    before_ = present_;
    present_ = in_use;
    volume_ = 0;
  }
  std::size_t get() const { return std::max(present_, before_); }

 private:
  std::size_t present_ = 0, before_ = 0, volume_ = 0;
};

constexpr std::size_t kAlign = 64;
constexpr std::size_t kSmall = 2048;  // bytes of the largest small block
constexpr std::size_t kClasses = kSmall / kAlign;
constexpr std::size_t kSlabBytes = std::size_t{1} << 18;

constexpr std::size_t class_of(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign - 1; }
constexpr std::size_t class_bytes(std::size_t cls) { return (cls + 1) * kAlign; }

/// The number of blocks that move together between a thread and the depot: 8 KiB, but at least eight blocks.
constexpr std::array<std::int64_t, kClasses> kBatch = [] {
  std::array<std::int64_t, kClasses> batch{};
  for (std::size_t cls = 0; cls < kClasses; ++cls)
    batch[cls] = static_cast<std::int64_t>(8192 / class_bytes(cls) > 8 ? 8192 / class_bytes(cls) : 8);
  return batch;
}();

struct FreeBlock {
  FreeBlock* next;
};

/// A counter that one thread writes and any thread may read.
class Counter {
 public:
  Counter(std::int64_t value = 0) : value_(value) {}
  Counter(const Counter& other) : value_(other.get()) {}
  Counter& operator=(const Counter& other) {
    value_.store(other.get(), std::memory_order_relaxed);
    return *this;
  }
  void add(std::int64_t n) { value_.store(get() + n, std::memory_order_relaxed); }
  std::int64_t get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::int64_t> value_;
};

/// A list of free blocks of one class. One thread changes it; other threads may read the count.
struct Batch {
  FreeBlock* head = nullptr;
  Counter count;

  void push(void* block) {
    head = ::new (block) FreeBlock{head};
    count.add(1);
  }
  void* pop() {
    FreeBlock* block = head;
    head = block->next;
    count.add(-1);
    return block;
  }
  std::size_t bytes(std::size_t cls) const {
    return static_cast<std::size_t>(count.get()) * class_bytes(cls);
  }
};

/// The part of a slab that its thread has not divided into blocks yet. A slab contains blocks of all classes,
/// in the order of their allocation.
struct OpenSlab {
  char* next = nullptr;
  std::size_t left = 0;
};

/// The depot of small blocks. Each call takes constant time, except a trim. The cost of a trim is amortised
/// over the blocks that put() has stored since the previous trim.
class SmallBlocks {
 public:
  /// Returns a batch of the class, or an empty one.
  Batch take(std::size_t cls);
  /// Stores a batch. Trims if the depot contains more free memory than the recent peak and enough blocks were
  /// stored since the previous trim.
  void put(std::size_t cls, Batch batch);
  /// Closes `slab` if it is open, and replaces it by a slab with space for a block of any class. Returns
  /// false if the system has no memory.
  bool open(OpenSlab& slab);
  /// Takes back a slab that its thread will not divide any further; open() reuses it.
  void close(OpenSlab& slab);
  /// Returns all entirely free slabs to the system.
  void trim();
  /// Returns the number of bytes of the blocks in the depot.
  std::size_t bytes();

 private:
  struct Slab;
  struct BatchHead;
  struct Stack {
    BatchHead* top = nullptr;
    std::atomic<bool> any{false};  // lets a thread see without the lock that the stack is empty
  };

  static Slab* slab_of(const void* block);
  void push(std::size_t cls, Batch batch);
  Batch pop(std::size_t cls);
  bool map_slabs();
  void close_locked(OpenSlab& slab);
  void trim_locked();

  HeldAtFork mutex_;
  Stack stacks_[kClasses];
  Slab* slabs_ = nullptr;
  Slab* roomy_ = nullptr;  // slabs with space for more blocks
  std::size_t slab_bytes_ = 0;
  std::size_t bytes_ = 0;       // bytes of the blocks in the depot
  std::size_t since_trim_ = 0;  // bytes that put() has stored since the last trim
  std::size_t next_trim_ = 0;   // the number of bytes that triggers the next trim
  RecentPeak use_;              // bytes of slabs, without the blocks in the depot
};

/// The cache of blocks of more than kSmall bytes. Block sizes rise in steps of an eighth of a power of two.
/// The sum of used and cached memory has two bounds: one and a half times the recent peak (plus 32 MiB), and
/// seven eighths of the memory limit. The blocks that were unused for the longest time are evicted first.
/// Each call takes constant time.
class LargeBlocks {
 public:
  /// Rounds up to a block size, which is at most an eighth larger.
  static std::size_t round(std::size_t bytes);
  /// Returns a block of at least `bytes` (rounded). It reuses a cached block that is at most a quarter
  /// larger. The data is null if the system refuses memory.
  Block take(std::size_t bytes);
  void put(Block block) noexcept;
  /// Returns all blocks to the system.
  void release() noexcept;
  std::size_t bytes();

 private:
  struct Kept;  // the list node at the beginning of a cached block
  static constexpr std::size_t kBins = 64 * 8;

  static std::size_t bin_of(std::size_t bytes);
  void unlink(Kept* kept);
  void count(std::size_t bytes);
  Kept* excess(std::size_t more);
  static void free_chain(Kept* chain) noexcept;

  HeldAtFork mutex_;
  Kept* bins_[kBins] = {};  // each bin has one size; the block that was freed last is first
  Kept* oldest_ = nullptr;
  Kept* newest_ = nullptr;
  std::size_t kept_ = 0, live_ = 0;  // bytes
  RecentPeak use_;
};

}  // namespace ebb::detail
