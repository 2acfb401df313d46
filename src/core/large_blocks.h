// The cache of large CPU blocks. A fresh mapping would cost a page fault per 4 KiB of every result.
#pragma once

#include "core/allocator.h"
#include "core/fork.h"
#include "core/recent_peak.h"

#include <cstddef>

namespace ebb::detail {

/// Blocks of more than kSmall bytes, in steps of an eighth of a power of two. Used and cached memory together
/// are bounded: by one and a half times the recent peak (plus 32 MiB), and by seven eighths of the memory
/// limit. The blocks that were unused for the longest time are evicted first. Each call takes constant time.
class LargeBlocks {
 public:
  /// Rounds up to a block size: at most an eighth more.
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
