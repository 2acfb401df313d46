// The device's runtime, for the files of src/cuda.
#pragma once

#include "core/backend.h"
#include "kernel/cuda/device.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace ebb::cuda {

constexpr std::size_t kMaxDevices = 128;

class GraphMemory;

/// What a thread works with. Kept here and not asked of the driver: every launch needs it.
struct ThreadState {
  int device = -1;  // as last set through ebb; -1: not set yet, and so perhaps no context is current
  std::array<cudaStream_t, kMaxDevices> streams{};
  GraphMemory* capture = nullptr;  // of the graph that the thread is capturing
};
ThreadState& thread_state();

/// Devices that the driver shows; 0 without a driver.
int visible_devices();
/// Throws when there is no such device.
const cudaDeviceProp& properties_of(int device);
/// Why the plugin's kernels do not run on a device that is there, as the end of a sentence about the plugin;
/// empty if they do.
std::string why_not_used(int device);
/// The calling thread's device, and another made it; throws when there is no such device, or no kernel for
/// it.
int current_device_index();
void set_current_device(int device);
/// The calling thread's stream of a device, whether or not work may go there now.
cudaStream_t stream_of(Device device);
void set_current_stream(Device device, cudaStream_t stream);
/// Throws when the calling thread is capturing a graph: `what` would make the host wait for the device.
void refuse_in_capture(const char* what);
/// Counts the captures that are going on, of any thread, by device.
void count_capture(Device device, int change) noexcept;
/// Waits for all work of the device; an error while a thread captures a graph there, for CUDA would spoil it.
void wait_for_device(Device device);

// Memory: see device/backend.h.
ebb::detail::DeviceBlock allocate(std::size_t bytes, Device device);
ebb::detail::DeviceBlock allocate_pinned(std::size_t bytes);
void free(ebb::detail::DeviceBlock block) noexcept;
void record_use(ebb::detail::DeviceBlock block, Device device, void* stream);
MemoryStats memory_stats_of(Device device);
void reset_peak_of(Device device);
void empty_cache_of(Device device);
void copy_bytes(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes,
                bool wait);

/// Throws ebb::IndexError (ebb::Error for a fault with a text of its own) if a kernel that has finished noted
/// a fault, and forgets it.
void check_faults(Device device);
/// Restarts the generators of all devices.
void seed_generators(std::uint64_t seed);
/// Seed of a device's own generator and how often it was drawn from; and back.
std::array<std::uint64_t, 2> generator_state_of(Device device);
void set_generator_state_of(Device device, std::array<std::uint64_t, 2> state);

std::unique_ptr<ebb::detail::DeviceGraph> make_graph(Device device);
std::shared_ptr<ebb::detail::DeviceGraphPool> make_graph_pool();

}  // namespace ebb::cuda
