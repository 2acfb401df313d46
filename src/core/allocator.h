// Blocks for storages; see include/ebb/core/allocator.h for the public face.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ebb::detail {

struct Block {
  void* data;
  std::size_t bytes;  // as rounded; needed to free it
};

/// At least `bytes` bytes aligned to 64, counted in memory_stats().
Block block_allocate(std::size_t bytes);
void block_free(Block block) noexcept;
void count_storage(std::int64_t delta) noexcept;

}  // namespace ebb::detail
