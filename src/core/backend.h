// The backend of a device other than the CPU: memory, copies, streams and the generator. The CUDA plugin
// implements this interface.
#pragma once

#include <ebb/core/allocator.h>
#include <ebb/core/device.h>
#include <ebb/cuda/device.h>
#include <ebb/cuda/graph.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace ebb::detail {

struct MemorySnapshot;

struct DeviceBlock {
  void* data = nullptr;
  std::size_t bytes = 0;
  Device device;
  void* context = nullptr;
};

class Capture;

/// Device memory that several graphs share.
class DeviceGraphPool {
 public:
  virtual ~DeviceGraphPool() = default;
};

/// The device's part of cuda::Graph. Between begin() and end() or discard(), the calling thread works on a
/// stream that belongs to the graph. begin() and end() or discard() must be called by the same thread.
class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;
  virtual void begin(Capture* capture, std::shared_ptr<DeviceGraphPool> pool) = 0;
  /// Instantiates the captured graph. If this throws, the capture has ended and the graph is empty.
  virtual void end() = 0;
  /// Ends a capture that replaces the previous one. If this throws, is_ready() returns whether the previous
  /// graph can still run.
  virtual cuda::GraphUpdate end_update() = 0;
  virtual bool is_ready() const = 0;
  /// Ends and drops the current capture; a graph that was captured before remains.
  virtual void abandon() noexcept = 0;
  /// Drops the current capture and the captured graph, after the last replay has finished.
  virtual void discard() noexcept = 0;
  /// Runs the graph on a stream of its device, after the capture's prepare functions.
  virtual void replay(void* stream) = 0;
};

/// A kernel that was compiled at run time. It is never unloaded.
class JitKernel {
 public:
  virtual ~JitKernel() = default;
  /// Queues the kernel on the current stream of its device. `argument` points to the bytes of its argument.
  virtual void launch(unsigned blocks, unsigned threads, const void* argument, std::size_t bytes) const = 0;
};

struct Backend {
  DeviceBlock (*allocate)(std::size_t bytes, Device device);
  /// Page-locked memory of the CPU; the block's device is the CPU.
  DeviceBlock (*allocate_pinned)(std::size_t bytes);
  /// Frees a block of allocate() or allocate_pinned().
  void (*free)(DeviceBlock block) noexcept;
  /// Records that a stream of `device` uses the block: see Storage::used_on.
  void (*record_use)(DeviceBlock block, Device device, void* stream);
  /// Copies bytes between devices, ordered after the current streams of both. If `wait` is true and the
  /// destination is the CPU, the host waits for the copy. If `wait` is false, CPU memory must be pinned.
  void (*copy)(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes,
               bool wait);
  Device (*current_device)();
  int (*device_count)();
  void (*synchronize)(Device device);
  void (*manual_seed)(std::uint64_t seed);
  /// The seed of a device's own generator, and the number of draws since it was seeded. While the thread
  /// captures a graph: 0 and the number of draws in the graph.
  std::array<std::uint64_t, 2> (*generator_state)(Device device);
  void (*set_generator_state)(Device device, std::array<std::uint64_t, 2> state);

  void (*set_device)(Device device);
  cuda::DeviceProperties (*properties)(Device device);
  /// Loads cuDNN, and returns whether it was found.
  bool (*has_dnn)();

  MemoryStats (*memory_stats)(Device device);
  void (*reset_peak)(Device device);
  void (*empty_cache)(Device device);
  void (*set_memory_fraction)(Device device, double fraction);
  double (*memory_fraction)(Device device);
  void (*set_allocator_settings)(std::string_view settings);
  MemorySnapshot (*memory_snapshot)();
  /// See cuda::record_memory_history.
  void (*record_memory_history)(std::size_t max_entries);

  // See cuda::nvtx.
  int (*range_push)(const char* message) noexcept;
  int (*range_pop)() noexcept;
  void (*mark)(const char* message) noexcept;
  std::uint64_t (*range_start)(const char* message) noexcept;
  void (*range_end)(std::uint64_t id) noexcept;

  void* (*pool_stream)(Device device);
  void* (*current_stream)(Device device);
  void (*set_stream)(Device device, void* stream);
  void (*stream_synchronize)(Device device, void* stream);
  bool (*stream_query)(Device device, void* stream);
  void (*stream_wait)(Device device, void* stream, void* event);
  void* (*event_create)(Device device, bool timing);
  void (*event_destroy)(Device device, void* event) noexcept;
  void (*event_record)(Device device, void* event, void* stream);
  void (*event_synchronize)(Device device, void* event);
  bool (*event_query)(Device device, void* event);
  float (*event_elapsed)(Device device, void* from, void* to);
  /// Orders two streams: work queued on `second` after this call starts after the work already queued on
  /// `first`.
  void (*order_streams)(Device first_device, void* first, Device second_device, void* second);

  /// Compiles the kernel of a source. The source defines `extern "C" jit_kernel` with one argument of type
  /// Argument, and may include the plugin's embedded headers (ops/elementwise/cuda_chain_columns.h). Returns
  /// null if the source cannot be compiled; the first time, a warning gives the reason.
  std::shared_ptr<const JitKernel> (*make_kernel)(Device device, const std::string& source);

  std::unique_ptr<DeviceGraph> (*make_graph)(Device device);
  std::shared_ptr<DeviceGraphPool> (*make_graph_pool)();
  /// Returns the calling thread's current device, streams and capture. Another thread that continues its work
  /// passes them to set_thread_state().
  std::shared_ptr<const void> (*thread_state)();
  void (*set_thread_state)(const void* state);
  /// Makes the calling thread allocate outside of any capture, on the default streams.
  void (*leave_capture)();
};

/// Incremented when Backend, the signature of a kernel slot or a type that plugins use changes.
constexpr std::uint32_t kPluginAbi = 11;

/// The function that a plugin exports as `extern "C"` under the name kPluginEntry. If its ABI number equals
/// `host_abi`, and a driver and a device exist, it calls set_backend, fills the kernel slots and returns
/// null. Otherwise it returns a message that names the missing part.
using PluginEntry = const char* (*)(std::uint32_t host_abi);
constexpr const char* kPluginEntry = "ebb_plugin_entry";

/// Opens the plugin of a device type and calls its entry. Returns an error message, or an empty string. The
/// plugin is never closed, because tensors and kernel slots point into it.
std::string load_plugin(DeviceType type);

/// Returns the backend of a device type. Loads the plugin on first use. Throws ebb::Error if the plugin, a
/// driver or a device is missing.
const Backend& backend(DeviceType type);
/// Loads the backend, whose plugin fills the kernel slots, without returning it.
EBB_API void require_backend(DeviceType type);
/// Returns the backend if its plugin is already loaded, otherwise null.
const Backend* loaded_backend(DeviceType type) noexcept;
/// Returns whether any thread has ever made a non-default stream current. If not, streams need no ordering.
bool side_streams_used() noexcept;
void note_side_stream() noexcept;

/// Registers the backend. Called by the entry function of a plugin.
EBB_API void set_backend(DeviceType type, const Backend* backend);

}  // namespace ebb::detail
