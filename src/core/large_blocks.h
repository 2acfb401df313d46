// Large blocks kept for reuse: a fresh mapping costs a page fault for every 4 KiB of every result.
#pragma once

#include "core/allocator.h"
#include "core/fork.h"
#include "core/recent_peak.h"

#include <cstddef>

namespace ebb::detail {

/// Blocks of more than kSmall bytes, in sizes of an eighth of a power of two. What is in use and what is kept
/// stay together within one and a half times the largest use of late (and 32 MiB), and within seven eighths
/// of the memory there is; the blocks that lay longest unused go first. Every call takes constant time.
class LargeBlocks {
 public:
  /// `bytes` as blocks have them: at most an eighth more.
  static std::size_t round(std::size_t bytes);
  /// A block of at least `bytes` (rounded), one that is kept if it is at most a quarter larger; no data when
  /// the system refuses.
  Block take(std::size_t bytes);
  void put(Block block) noexcept;
  /// Returns all blocks to the system.
  void release() noexcept;
  std::size_t bytes();

 private:
  struct Kept;  // what stands in a block while it is kept
  static constexpr std::size_t kBins = 64 * 8;

  static std::size_t bin_of(std::size_t bytes);
  void unlink(Kept* kept);
  void count(std::size_t bytes);
  Kept* excess(std::size_t more);
  static void free_chain(Kept* chain) noexcept;

  HeldAtFork mutex_;
  Kept* bins_[kBins] = {};  // each bin holds one size, the block put last first
  Kept* oldest_ = nullptr;
  Kept* newest_ = nullptr;
  std::size_t kept_ = 0, live_ = 0;  // bytes
  RecentPeak use_;
};

}  // namespace ebb::detail
