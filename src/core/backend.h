// What a device other than the CPU provides besides kernels: memory, copies, its generator. The CUDA plugin
// fills one in.
#pragma once

#include <ebb/core/allocator.h>
#include <ebb/core/device.h>
#include <ebb/cuda/device.h>

#include <cstddef>
#include <cstdint>
#include <string>

namespace ebb::detail {

struct DeviceBlock {
  void* data = nullptr;
  std::size_t bytes = 0;
  Device device;
  void* context = nullptr;
};

struct Backend {
  DeviceBlock (*allocate)(std::size_t bytes, Device device);
  void (*free)(DeviceBlock block) noexcept;
  /// Bytes between devices, in stream order; waits for the result when the destination is the CPU.
  void (*copy)(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes);
  Device (*current_device)();
  int (*device_count)();
  void (*synchronize)(Device device);
  void (*manual_seed)(std::uint64_t seed);

  void (*set_device)(Device device);
  cuda::DeviceProperties (*properties)(Device device);

  MemoryStats (*memory_stats)(Device device);
  void (*reset_peak)(Device device);
  void (*empty_cache)(Device device);

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
};

/// Raised whenever Backend, the signature of a kernel slot or a type that plugins see changes.
constexpr std::uint32_t kPluginAbi = 4;

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
/// Called by a plugin as it loads.
EBB_API void set_backend(DeviceType type, const Backend* backend);

}  // namespace ebb::detail
