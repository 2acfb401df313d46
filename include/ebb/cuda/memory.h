// The memory of CUDA devices that ebb's caching allocator manages.
#pragma once

#include <ebb/core/allocator.h>

namespace ebb::cuda {

/// Bytes handed out on a device (-1: the current one). `cached` is what is held for reuse. Throws ebb::Error
/// when there is no such device. With EBB_CUDA_ALLOCATOR=async in the environment the driver's pools are
/// used, and `cached` is what they hold.
EBB_API MemoryStats memory_stats(std::int64_t device_index = -1);
/// Forgets the peak: it restarts at `current`.
EBB_API void reset_peak(std::int64_t device_index = -1);
/// Waits for every device and returns what is cached to it; does nothing without one.
EBB_API void empty_cache();

}  // namespace ebb::cuda
