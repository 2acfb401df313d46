// The CUDA runtime layer of the plugin, for the files of src/cuda.
#pragma once

#include <ebb/core/device.h>

#include "core/backend.h"
#include "kernel/cuda/device.h"

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace ebb::cuda {

constexpr std::size_t kMaxDevices = 128;

class GraphMemory;

/// The CUDA state of a thread. It is cached here because every launch needs it, and a query of the driver
/// would take longer.
struct ThreadState {
  int device = -1;  // the last device set through ebb; -1 if none was set, so there may be no current context
  std::array<cudaStream_t, kMaxDevices> streams{};
  GraphMemory* capture = nullptr;  // memory of the graph that the thread is capturing
};
ThreadState& thread_state();

/// Returns the number of devices that the driver reports; 0 without a driver.
int visible_devices();
/// Returns the properties of a device. Throws if there is no such device.
const cudaDeviceProp& properties_of(int device);
/// Returns the reason why the plugin's kernels do not run on an existing device, as the end of a sentence
/// about the plugin. Returns an empty string if the kernels run on the device.
std::string why_not_used(int device);
/// Returns or sets the calling thread's device. Setting it throws if there is no such device, or if there are
/// no kernels for it.
int current_device_index();
void set_current_device(int device);
/// Returns the calling thread's stream of a device, without a check that work may be queued on it.
cudaStream_t stream_of(Device device);
void set_current_stream(Device device, cudaStream_t stream);
/// Throws if the calling thread is capturing a graph. `what` describes the action that would make the host
/// wait for the device.
void refuse_in_capture(const char* what);
/// Counts the running captures of all threads, by device.
void count_capture(Device device, int change) noexcept;
/// Waits for all work of the device. Throws while any thread captures a graph on this device, because CUDA
/// would invalidate the capture.
void wait_for_device(Device device);

// The functions for memory of the backend's table; see core/backend.h.
ebb::detail::DeviceBlock allocate(std::size_t bytes, Device device);
ebb::detail::DeviceBlock allocate_pinned(std::size_t bytes);
void free(ebb::detail::DeviceBlock block) noexcept;
void record_use(ebb::detail::DeviceBlock block, Device device, void* stream);
MemoryStats memory_stats_of(Device device);
void reset_peak_of(Device device);
void empty_cache_of(Device device);
void copy_bytes(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes,
                bool wait);

/// Throws ebb::IndexError (ebb::Error for a fault with its own message) if a finished kernel reported a
/// fault, and clears it.
void check_faults(Device device);
/// Restarts the generators of all devices.
void seed_generators(std::uint64_t seed);
/// Returns or sets the seed of a device's own generator and its number of draws.
std::array<std::uint64_t, 2> generator_state_of(Device device);
void set_generator_state_of(Device device, std::array<std::uint64_t, 2> state);

std::unique_ptr<ebb::detail::DeviceGraph> make_graph(Device device);
std::shared_ptr<ebb::detail::DeviceGraphPool> make_graph_pool();

// Streams and events, as the untyped handles of core/backend.h.
void* pool_stream(Device device);
void stream_synchronize(Device device, void* stream);
bool stream_query(Device device, void* stream);
void stream_wait(Device device, void* stream, void* event);
void* event_create(Device device, bool timing);
void event_destroy(Device device, void* event) noexcept;
void event_record(Device device, void* event, void* stream);
void event_synchronize(Device device, void* event);
bool event_query(Device device, void* event);
float event_elapsed(Device device, void* from, void* to);
void order_streams(Device first_device, void* first, Device second_device, void* second);
/// Lets two devices copy to each other directly, if the machine supports it.
void allow_peer_access(Device a, Device b);

}  // namespace ebb::cuda
