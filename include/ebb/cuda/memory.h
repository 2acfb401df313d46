// The memory of CUDA devices that ebb's caching allocator manages.
#pragma once

#include <ebb/core/allocator.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ebb::cuda {

/// Bytes handed out on a device (-1: the current one). `cached` is what is held for reuse. Throws ebb::Error
/// when there is no such device. With EBB_CUDA_ALLOCATOR=async in the environment the driver's pools are
/// used, and `cached` is what they hold.
EBB_API MemoryStats memory_stats(std::int64_t device_index = -1);
/// Forgets the peak: it restarts at `current`.
EBB_API void reset_peak(std::int64_t device_index = -1);
/// Waits for every device and returns what is cached to it; does nothing without one.
EBB_API void empty_cache();

/// ebb takes at most this part of a device's memory (-1: the current one), cached pieces included; beyond it,
/// once what is cached has been given back, an allocation is out of memory. What is held already stays. 1
/// unless set. Throws ebb::Error for a fraction outside [0, 1]
/// (torch.cuda.set_per_process_memory_fraction).
EBB_API void set_per_process_memory_fraction(double fraction, std::int64_t device_index = -1);
EBB_API double get_per_process_memory_fraction(std::int64_t device_index = -1);

/// Options of the caching allocator as text, "name:value" separated by commas; they hold for all devices, and
/// may be set until memory of any is first allocated. EBB_CUDA_ALLOC_CONF in the environment says the same.
///
/// expandable_segments:True   A stream's memory is one range of addresses that grows at its end, by 2 MiB for
/// small requests and 20 MiB for large ones, in place of segments of fixed size: where sizes keep changing,
/// fewer pieces are left over. Needs a device with virtual memory management; on others a warning says that
/// segments stay fixed.
///
/// Throws ebb::Error for an option or a value that does not exist, and when it is too late
/// (torch.cuda.memory._set_allocator_settings, PYTORCH_CUDA_ALLOC_CONF).
EBB_API void set_allocator_settings(std::string_view settings);

/// What the caching allocators of all devices hold, as JSON that PyTorch's viewer (pytorch.org/memory_viz)
/// opens from a file: `segments`, each with `address`, `total_size`, `allocated_size`, `active_size`,
/// `requested_size` (bytes), `device`, `stream`, `segment_type` ("small", "large"), `segment_pool_id` ([0, 0]
/// but for graphs), `is_expandable` and its `blocks` (`address`, `size`, `requested_size`, `state`:
/// "active_allocated", "active_pending_free", "inactive"); `device_traces`, a device's events if they are
/// recorded; `allocator_settings`. `frames` are empty: ebb keeps no stacks. Without a device the lists are
/// empty. Throws ebb::Error with EBB_CUDA_ALLOCATOR=async (torch.cuda.memory._snapshot).
EBB_API std::string memory_snapshot();

/// Records from now on what the allocators do, the last `max_entries` events of each device, for
/// memory_snapshot(): `alloc`, `free_requested`, `free_completed` (later than the former where other streams
/// used the memory), `segment_alloc`, `segment_free`, `segment_map`, `segment_unmap`, `oom`, `snapshot`, each
/// with `addr`, `size`, `stream` and `time_us`. 0 stops and forgets. Off unless set; does nothing without a
/// device (torch.cuda.memory._record_memory_history).
EBB_API void record_memory_history(std::size_t max_entries = 100000);

}  // namespace ebb::cuda
