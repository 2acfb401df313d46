// Blocks for storages; see include/ebb/core/allocator.h for the public face.
#pragma once

#include <ebb/core/error.h>

#include <cstddef>
#include <cstdint>
#include <new>

namespace ebb::detail {

struct Block {
  void* data;
  std::size_t bytes;  // as rounded; needed to free it
};

/// The system refused memory: an Error that the op, which is not known where memory is asked for, can be
/// named in.
struct EBB_API MemoryRefused : Error {
  using Error::Error;
  ~MemoryRefused() override;
};
/// Within a handler of MemoryRefused or std::bad_alloc: the same as an Error that names the op.
[[noreturn]] EBB_API void memory_refused(const char* op);

/// Calls `run`, work of an op, for which memory that it is refused is an Error with the op's name.
template <class Run>
[[gnu::always_inline]] inline auto naming_refusals(const char* op, Run&& run) {
  try {
    return run();
  } catch (const MemoryRefused&) {
    memory_refused(op);
  } catch (const std::bad_alloc&) {
    memory_refused(op);
  }
}

/// At least `bytes` bytes aligned to 64, counted in memory_stats().
Block block_allocate(std::size_t bytes);
void block_free(Block block) noexcept;
void count_storage(std::int64_t delta) noexcept;

}  // namespace ebb::detail
