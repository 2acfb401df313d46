// Internal interface of the CPU allocator: blocks for storages. The public interface is
// include/ebb/core/allocator.h.
#pragma once

#include <ebb/core/error.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace ebb::detail {

struct Block {
  void* data;
  std::size_t bytes;  // the rounded size, which block_free() needs
};

/// Thrown when the system refuses memory. The message does not name the op, which the allocator cannot
/// determine; memory_refused() adds the name.
struct EBB_API MemoryRefused : Error {
  using Error::Error;
  ~MemoryRefused() override;
};
/// Rethrows the current MemoryRefused or std::bad_alloc as an Error that names the op. Must be called in a
/// catch handler.
[[noreturn]] EBB_API void memory_refused(const char* op);

/// Calls `run`. If `run` runs out of memory, throws an Error that contains the op's name.
template <class Run>
[[gnu::always_inline]] inline auto name_memory_errors(const char* op, Run&& run) {
  try {
    return run();
  } catch (const MemoryRefused&) {
    memory_refused(op);
  } catch (const std::bad_alloc&) {
    memory_refused(op);
  }
}

/// Returns at least `bytes` bytes, aligned to 64 and counted in memory_stats().
Block block_allocate(std::size_t bytes);
void block_free(Block block) noexcept;
void count_storage(std::int64_t delta) noexcept;

}  // namespace ebb::detail
