// Small blocks that no thread keeps: batches of them on shared stacks, and the slabs they are carved from.
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

/// Blocks that move together between a thread and the depot: 8 KiB, or eight of them.
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

/// The part of a slab that its thread has not carved yet. A slab holds blocks of all classes, those of one
/// time together.
struct OpenSlab {
  char* next = nullptr;
  std::size_t left = 0;
};

/// What threads share. Each call takes constant time, but for a trim, whose cost is spread over the blocks
/// put here since the one before.
class SmallBlocks {
 public:
  /// A batch of the class; empty when there is none.
  Batch take(std::size_t cls);
  /// Takes a batch in. Trims when far more lies here than was in use of late; gives the bytes of the blocks
  /// that went.
  std::size_t put(std::size_t cls, Batch batch);
  /// A slab with room for any block, in place of one that has none; false when the system has no memory.
  bool open(OpenSlab& slab);
  /// Takes in a slab that its thread does not carve any further, for the next that opens one.
  void close(OpenSlab& slab);
  /// Returns to the system each slab of which all blocks are here. Gives the bytes of these blocks.
  std::size_t trim();

 private:
  struct Slab;
  struct BatchHead;
  struct Stack {
    BatchHead* top = nullptr;
    std::atomic<bool> any{false};  // so that no thread locks to learn that there is nothing
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
  Slab* roomy_ = nullptr;  // those that a thread may carve further
  std::size_t slab_bytes_ = 0;
  std::size_t bytes_ = 0;       // of the blocks here
  std::size_t since_trim_ = 0;  // bytes put here since the last trim
  std::size_t next_trim_ = 0;   // and how many must come before the next
  RecentPeak use_;              // of slabs, without what lies here
};

}  // namespace ebb::detail
