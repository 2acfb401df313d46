// The depot of small blocks, which all threads share: stacks of batches, and the slabs that contain the
// blocks.
#pragma once

#include "core/fork.h"
#include "core/recent_peak.h"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

namespace ebb::detail {

constexpr std::size_t kAlign = 64;
constexpr std::size_t kSmall = 2048;  // bytes of the largest small block
constexpr std::size_t kClasses = kSmall / kAlign;
constexpr std::size_t kSlabBytes = std::size_t{1} << 18;

constexpr std::size_t class_of(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign - 1; }
constexpr std::size_t class_bytes(std::size_t cls) { return (cls + 1) * kAlign; }

/// The number of blocks that move together between a thread and the depot: 8 KiB, but at least eight blocks.
constexpr std::array<std::uint32_t, kClasses> kBatch = [] {
  std::array<std::uint32_t, kClasses> batch{};
  for (std::size_t cls = 0; cls < kClasses; ++cls)
    batch[cls] = static_cast<std::uint32_t>(8192 / class_bytes(cls) > 8 ? 8192 / class_bytes(cls) : 8);
  return batch;
}();

struct FreeBlock {
  FreeBlock* next;
};

/// A list of free blocks of one class.
struct Batch {
  FreeBlock* head = nullptr;
  std::uint32_t count = 0;

  void push(void* block) {
    head = ::new (block) FreeBlock{head};
    ++count;
  }
  void* pop() {
    FreeBlock* block = head;
    head = block->next;
    --count;
    return block;
  }
};

/// The part of a slab that its thread has not divided into blocks yet. A slab contains blocks of all classes,
/// in the order of their allocation.
struct OpenSlab {
  char* next = nullptr;
  std::size_t left = 0;
};

/// The part of the allocator that threads share. Each call takes constant time, except a trim. The cost of a
/// trim is spread over the blocks put here since the previous one.
class SmallBlocks {
 public:
  /// Returns a batch of the class, or an empty one.
  Batch take(std::size_t cls);
  /// Stores a batch. Trims if the depot holds far more memory than the recent peak. Returns the bytes of the
  /// blocks that the trim released.
  std::size_t put(std::size_t cls, Batch batch);
  /// Opens a slab with space for any block, in place of a full one. Returns false if the system has no
  /// memory.
  bool open(OpenSlab& slab);
  /// Takes back a slab that its thread will not divide any further; open() reuses it.
  void close(OpenSlab& slab);
  /// Returns each entirely free slab to the system. Returns the bytes of its blocks.
  std::size_t trim();

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
  std::size_t trim_locked();

  HeldAtFork mutex_;
  Stack stacks_[kClasses];
  Slab* slabs_ = nullptr;
  Slab* roomy_ = nullptr;  // slabs with space for more blocks
  std::size_t slab_bytes_ = 0;
  std::size_t bytes_ = 0;       // of the blocks in the depot
  std::size_t since_trim_ = 0;  // bytes put here since the last trim
  std::size_t next_trim_ = 0;   // the number of bytes that triggers the next trim
  RecentPeak use_;              // of slabs, without the blocks in the depot
};

}  // namespace ebb::detail
