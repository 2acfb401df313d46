// Memory straight from the system, and how much of it there is.
#pragma once

#include <cstddef>

namespace ebb::detail {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{1} << 21;

/// Fresh pages of zeros, aligned to `alignment` (a power of two of at least kPage); null when refused. Both
/// sizes are multiples of kPage. Pages aligned to kHugePage are asked for as huge ones, of which 512 cost one
/// page fault.
void* map_pages(std::size_t bytes, std::size_t alignment = kPage) noexcept;
void unmap_pages(void* pages, std::size_t bytes) noexcept;

/// Bytes this process may use: the machine's memory, or less where a control group says so. Read once.
std::size_t memory_limit();

}  // namespace ebb::detail
