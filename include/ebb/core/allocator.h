// The CPU's caching allocator: statistics and control.
#pragma once

#include <ebb/core/api.h>

#include <cstddef>
#include <cstdint>

namespace ebb {

/// Bytes of CPU memory handed out by ebb's caching allocator.
struct MemoryStats {
  std::size_t current = 0;  ///< in live storages, in bytes
  std::size_t peak = 0;     ///< the highest `current` since the last reset_peak(); exact to 64 KiB a thread
  std::size_t cached = 0;   ///< held for reuse, in bytes
  std::int64_t allocations = 0;  ///< storages made since the program started
};

/// Statistics over all threads.
EBB_API MemoryStats memory_stats();
/// Forgets the peak: it restarts at `current`.
EBB_API void reset_peak();
/// Returns cached memory to the system: all large blocks, and slabs (256 KiB) of small ones where nothing is
/// in use. Other live threads keep a few blocks, at most 1 MiB each. Even without it, memory long unused goes
/// back: what is cached stays in proportion to the largest use of late, and within what the machine or its
/// control group has.
EBB_API void empty_cache();

/// Live objects, for leak tests: both return to their earlier values once everything made since is gone.
EBB_API std::int64_t live_storage_count();
EBB_API std::int64_t live_node_count();

namespace detail {
// Pooled memory for the library's own small objects (tensors, nodes) and for storages; aligned to 64.
EBB_API void* pool_allocate(std::size_t bytes);
EBB_API void pool_free(void* block, std::size_t bytes) noexcept;
EBB_API void count_node(std::int64_t delta) noexcept;
}  // namespace detail

}  // namespace ebb
