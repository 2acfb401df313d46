// The CPU's caching allocator: statistics and control.
#pragma once

#include <ebb/core/api.h>

#include <cstddef>
#include <cstdint>

namespace ebb {

/// Statistics of ebb's caching allocator for CPU memory.
struct MemoryStats {
  std::size_t current = 0;       ///< bytes in live storages
  std::size_t peak = 0;          ///< the highest `current` since reset_peak(); exact to 64 KiB per thread
  std::size_t cached = 0;        ///< bytes held for reuse
  std::int64_t allocations = 0;  ///< storages allocated since the program started
};

/// Returns the statistics of all threads together.
EBB_API MemoryStats memory_stats();
/// Resets the peak to `current`.
EBB_API void reset_peak();
/// Returns cached memory to the system: all large blocks, and slabs (256 KiB) of small blocks that are
/// completely free. Other live threads keep a few blocks, at most 1 MiB each. The allocator also returns
/// memory by itself when it is unused for long. The cache stays in proportion to the recent peak, and below
/// the memory limit of the machine or of its control group.
EBB_API void empty_cache();

/// Returns the number of live storages or tensors, for leak tests. Both counts return to their earlier values
/// once all new objects are destroyed.
EBB_API std::int64_t live_storage_count();
EBB_API std::int64_t live_node_count();

namespace detail {
// Allocates pooled memory, aligned to 64 bytes, for storages and for the library's own small objects
// (tensors, nodes).
EBB_API void* pool_allocate(std::size_t bytes);
EBB_API void pool_free(void* block, std::size_t bytes) noexcept;
EBB_API void count_node(std::int64_t delta) noexcept;
}  // namespace detail

}  // namespace ebb
