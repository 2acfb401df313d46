// The device's runtime, for the files of src/cuda.
#pragma once

#include <vector>

#include "core/backend.h"
#include "kernel/cuda/device.h"

namespace ebb::cuda {

/// Devices that the driver shows; 0 without a driver.
int visible_devices();
/// Throws when there is no such device.
const cudaDeviceProp& properties_of(int device);
void set_current_stream(Device device, cudaStream_t stream);

constexpr std::size_t kMaxDevices = 128;

// Memory: see core/backend.h.
ebb::detail::DeviceBlock allocate(std::size_t bytes, Device device);
void free(ebb::detail::DeviceBlock block) noexcept;
MemoryStats memory_stats_of(Device device);
void reset_peak_of(Device device);
void empty_cache_of(Device device);
void copy_bytes(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes);

/// Throws ebb::IndexError (ebb::Error for a fault with a text of its own) if a kernel that has finished noted
/// a fault, and forgets it.
void check_faults(Device device);
/// Restarts the generators of all devices.
void manual_seed(std::uint64_t seed);

}  // namespace ebb::cuda
