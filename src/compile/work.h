// The work of preparing tapes, counted.
#pragma once

#include <ebb/core/api.h>

#include <atomic>
#include <cstdint>

namespace ebb::compiling {

/// How often calls or places were compared with one another while tapes were prepared, on all threads. Tests
/// see by it that the work grows with the calls and not with their pairs.
extern EBB_API constinit std::atomic<std::uint64_t> comparisons;

inline void count_comparisons(std::size_t count) noexcept {
  comparisons.fetch_add(count, std::memory_order_relaxed);
}

}  // namespace ebb::compiling
