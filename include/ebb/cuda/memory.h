// Memory statistics and options of ebb's caching allocator for CUDA devices.
#pragma once

#include <ebb/core/allocator.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace ebb::cuda {

/// Returns the memory statistics of a device (-1: the current one). `cached` is the memory held for reuse.
/// Throws ebb::Error if the device does not exist. With the environment variable EBB_CUDA_ALLOCATOR=async the
/// driver's pools are used, and `cached` is the memory that they hold.
EBB_API MemoryStats memory_stats(std::int64_t device_index = -1);
/// Resets the peak to `current`.
EBB_API void reset_peak(std::int64_t device_index = -1);
/// Waits for all devices and returns their cached memory to them. Does nothing without a device.
EBB_API void empty_cache();

/// Limits ebb to a fraction of a device's memory (-1: the current one), including cached blocks; the default
/// is 1. An allocation beyond the limit first returns cached memory to the device. If that is not enough, it
/// throws an out-of-memory error. Memory that is already allocated stays allocated. Throws ebb::Error for a
/// fraction outside [0, 1] (torch.cuda.set_per_process_memory_fraction).
EBB_API void set_per_process_memory_fraction(double fraction, std::int64_t device_index = -1);
EBB_API double get_per_process_memory_fraction(std::int64_t device_index = -1);

/// Sets options of the caching allocator, as "name:value" separated by commas. They apply to all devices, and
/// can be set until memory of any device is first allocated. The environment variable EBB_CUDA_ALLOC_CONF
/// sets the same options.
///
/// expandable_segments:True   The memory of a stream is one range of addresses that grows at its end. It
/// grows by 2 MiB for small requests and by 20 MiB for large ones. Without the option, memory consists of
/// segments of fixed size. The option reduces fragmentation if sizes keep changing. It needs a device with
/// virtual memory management; on other devices segments stay fixed, with a warning.
///
/// Throws ebb::Error for an unknown option or value, and if memory has been allocated already
/// (torch.cuda.memory._set_allocator_settings, PYTORCH_CUDA_ALLOC_CONF).
EBB_API void set_allocator_settings(std::string_view settings);

/// Returns the state of the caching allocators of all devices as JSON, which PyTorch's viewer
/// (pytorch.org/memory_viz) opens from a file. `segments` lists segments with `address`, `total_size`,
/// `allocated_size`, `active_size`, `requested_size` (bytes), `device`, `stream`, `segment_type` ("small",
/// "large"), `segment_pool_id` ([0, 0] except for graphs), `is_expandable` and `blocks`. A block has
/// `address`, `size`, `requested_size` and `state` ("active_allocated", "active_pending_free" or "inactive").
/// `device_traces` lists a device's events if they are recorded. The last key is `allocator_settings`.
/// `frames` are empty, because ebb records no stack traces. Without a device the lists are empty. Throws
/// ebb::Error with EBB_CUDA_ALLOCATOR=async (torch.cuda.memory._snapshot).
EBB_API std::string memory_snapshot();

/// Starts to record the last `max_entries` allocator events of each device, for memory_snapshot(). The events
/// are `alloc`, `free_requested`, `free_completed` (later than `free_requested` if other streams used the
/// memory), `segment_alloc`, `segment_free`, `segment_map`, `segment_unmap`, `oom` and `snapshot`. Each has
/// `addr`, `size`, `stream` and `time_us`. 0 stops recording and drops all events. The default is off. Does
/// nothing without a device (torch.cuda.memory._record_memory_history).
EBB_API void record_memory_history(std::size_t max_entries = 100000);

}  // namespace ebb::cuda
