// What a device other than the CPU provides besides kernels: memory, copies, its generator. The CUDA plugin
// fills one in.
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

/// Memory that graphs share, of any device.
class DeviceGraphPool {
 public:
  virtual ~DeviceGraphPool() = default;
};

/// What cuda::Graph drives. A stream of its own is the calling thread's between begin() and end() or
/// discard(), which the same thread calls.
class DeviceGraph {
 public:
  virtual ~DeviceGraph() = default;
  virtual void begin(Capture* capture, std::shared_ptr<DeviceGraphPool> pool) = 0;
  /// Makes what was captured ready to run. When it throws, the capture is over and nothing is left of it.
  virtual void end() = 0;
  /// The same in place of what was captured before, of which nothing is needed afterwards. When it throws,
  /// is_ready() tells whether that can still run.
  virtual cuda::GraphUpdate end_update() = 0;
  virtual bool is_ready() const = 0;
  /// Ends a capture and forgets it, and only it.
  virtual void abandon() noexcept = 0;
  /// Gives up what is being or was captured, once the last replay is done.
  virtual void discard() noexcept = 0;
  /// Runs it on a stream of its device, after what the capture prepares.
  virtual void replay(void* stream) = 0;
};

/// A kernel that was compiled while the program runs. Kept for good.
class MadeKernel {
 public:
  virtual ~MadeKernel() = default;
  /// Queues it on the current stream of its device, with the bytes of its argument.
  virtual void launch(unsigned blocks, unsigned threads, const void* argument, std::size_t bytes) const = 0;
};

struct Backend {
  DeviceBlock (*allocate)(std::size_t bytes, Device device);
  /// Page-locked memory of the CPU; the block's device is the CPU.
  DeviceBlock (*allocate_pinned)(std::size_t bytes);
  /// Of either kind.
  void (*free)(DeviceBlock block) noexcept;
  /// The block is used on a stream of `device`: see Storage::used_on.
  void (*record_use)(DeviceBlock block, Device device, void* stream);
  /// Bytes between devices, in the order of both devices' current streams. With `wait`, the host waits for
  /// the result when the destination is the CPU; without, memory of the CPU must be pinned.
  void (*copy)(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes,
               bool wait);
  Device (*current_device)();
  int (*device_count)();
  void (*synchronize)(Device device);
  void (*manual_seed)(std::uint64_t seed);
  /// Seed of a device's own generator, and how many times it was drawn from.
  std::array<std::uint64_t, 2> (*generator_state)(Device device);
  void (*set_generator_state)(Device device, std::array<std::uint64_t, 2> state);

  void (*set_device)(Device device);
  cuda::DeviceProperties (*properties)(Device device);
  /// Whether a library for neural networks was found; loads it.
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
  /// What is queued on `second` from now on starts after what is queued on `first`.
  void (*order_streams)(Device first_device, void* first, Device second_device, void* second);

  /// The kernel of a source, which defines `extern "C" made_kernel` of one argument of its type Argument and
  /// includes what the plugin has at hand (ops/elementwise/cuda_chain_columns.h). Null where it cannot be
  /// made; the first time a warning says why.
  std::shared_ptr<const MadeKernel> (*make_kernel)(Device device, const std::string& source);

  std::unique_ptr<DeviceGraph> (*make_graph)(Device device);
  std::shared_ptr<DeviceGraphPool> (*make_graph_pool)();
  /// The calling thread's current device, streams and capture; for threads that go on with another's work.
  std::shared_ptr<const void> (*thread_state)();
  void (*set_thread_state)(const void* state);
  /// The calling thread allocates as if it captured nothing and had never left the default streams.
  void (*leave_capture)();
};

/// Raised whenever Backend, the signature of a kernel slot or a type that plugins see changes.
constexpr std::uint32_t kPluginAbi = 11;

/// What a plugin exports as `extern "C"` under kPluginEntry. If it was built for the host's ABI number and
/// finds a driver and a device, it calls set_backend, fills the kernel slots and returns null; else it
/// returns what is missing.
using PluginEntry = const char* (*)(std::uint32_t host_abi);
constexpr const char* kPluginEntry = "ebb_plugin_entry";

/// Opens the plugin of a device type and calls its entry; returns what went wrong, or an empty string. The
/// plugin is never closed: tensors and kernel slots point into it.
std::string load_plugin(DeviceType type);

/// The backend of a device type; loads the plugin on first use and throws ebb::Error naming what is missing.
const Backend& backend(DeviceType type);
/// The same for kernel slots, which need no more than that it is there.
EBB_API void require_backend(DeviceType type);
/// The backend if its plugin is already loaded, else null.
const Backend* loaded_backend(DeviceType type) noexcept;
/// Whether a stream other than the default ones was ever made current: until then there is no order to keep.
bool side_streams_used() noexcept;
void note_side_stream() noexcept;

/// Called by a plugin as it loads.
EBB_API void set_backend(DeviceType type, const Backend* backend);

}  // namespace ebb::detail
