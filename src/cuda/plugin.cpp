// The entry of the CUDA plugin, which libebb calls when Device::CUDA is first used.
#include "cuda/allocator_settings.h"
#include "cuda/jit_kernels.h"
#include "cuda/memory.h"
#include "cuda/runtime.h"
#include "kernel/cuda/dnn.h"
#include "ops/elementwise/kernels.h"
#include "ops/loss/kernels.h"

#include <nvtx3/nvToolsExt.h>  // loads the attached profiler, if any

#include <string>

namespace ebb::cuda {

/// Puts the kernels of all families into their slots. cmake/EbbSlots.cmake generates the definition.
void fill_slots();

namespace {

Device current_device() { return Device(DeviceType::CUDA, current_device_index()); }

void synchronize(Device device) {
  refuse_in_capture("the host waited for the device (synchronize())");
  wait_for_device(device);
  check_faults(device);
}

DeviceProperties properties(Device device) {
  const cudaDeviceProp& p = properties_of(device.index());
  return {p.name,
          p.major,
          p.minor,
          p.totalGlobalMem,
          p.multiProcessorCount,
          p.maxThreadsPerMultiProcessor,
          p.warpSize,
          static_cast<std::size_t>(p.l2CacheSize)};
}

std::shared_ptr<const void> save_thread_state() {
  const auto state = std::make_shared<ThreadState>(thread_state());
  state->device = current_device_index();
  return state;
}
void set_thread_state(const void* state) {
  const ThreadState& other = *static_cast<const ThreadState*>(state);
  set_current_device(other.device);
  thread_state() = other;
}

void leave_capture() {
  thread_state().capture = nullptr;
  thread_state().streams = {};
}

int push_range(const char* message) noexcept { return nvtxRangePushA(message); }
int pop_range() noexcept { return nvtxRangePop(); }
void set_mark(const char* message) noexcept { nvtxMarkA(message); }
std::uint64_t start_range(const char* message) noexcept { return nvtxRangeStartA(message); }
void end_range(std::uint64_t id) noexcept { nvtxRangeEnd(id); }

constexpr ebb::detail::Backend kBackend = {
    .allocate = &allocate,
    .allocate_pinned = &allocate_pinned,
    .free = &free,
    .record_use = &record_use,
    .copy = &copy_bytes,
    .current_device = &current_device,
    .device_count = &visible_devices,
    .synchronize = &synchronize,
    .manual_seed = &seed_generators,
    .generator_state = &generator_state_of,
    .set_generator_state = &set_generator_state_of,
    .set_device = [](Device device) { set_current_device(device.index()); },
    .properties = &properties,
    .has_dnn = &dnn_is_there,
    .memory_stats = &memory_stats_of,
    .reset_peak = &reset_peak_of,
    .empty_cache = &empty_cache_of,
    .set_memory_fraction = &set_memory_fraction,
    .memory_fraction = &memory_fraction,
    .set_allocator_settings = &change_allocator_settings,
    .memory_snapshot = &take_memory_snapshot,
    .record_memory_history = &start_memory_history,
    .range_push = &push_range,
    .range_pop = &pop_range,
    .mark = &set_mark,
    .range_start = &start_range,
    .range_end = &end_range,
    .pool_stream = &pool_stream,
    .current_stream = [](Device device) -> void* { return stream_of(device); },
    .set_stream = [](Device device,
                     void* stream) { set_current_stream(device, static_cast<cudaStream_t>(stream)); },
    .stream_synchronize = &stream_synchronize,
    .stream_query = &stream_query,
    .stream_wait = &stream_wait,
    .event_create = &event_create,
    .event_destroy = &event_destroy,
    .event_record = &event_record,
    .event_synchronize = &event_synchronize,
    .event_query = &event_query,
    .event_elapsed = &event_elapsed,
    .order_streams = &order_streams,
    .make_kernel = &make_kernel,
    .make_graph = &make_graph,
    .make_graph_pool = &make_graph_pool,
    .thread_state = &save_thread_state,
    .set_thread_state = &set_thread_state,
    .leave_capture = &leave_capture,
};

// Looks for a device that can run the kernels. Returns null if there is one, otherwise the reason why no
// device can.
const char* find_kernels(std::string& problem) {
  for (int i = 0; i < visible_devices(); ++i) {
    problem = why_not_used(i);
    if (problem.empty()) return nullptr;
  }
  return problem.c_str();
}

// Looks for a driver and a device. Returns null if there are both, otherwise a message that names the missing
// part.
const char* find_device() {
  static std::string problem;
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaSuccess && count > 0) return find_kernels(problem);
  int driver = 0, runtime = 0;
  cudaDriverGetVersion(&driver);
  cudaRuntimeGetVersion(&runtime);
  const auto version = [](int v) { return std::to_string(v / 1000) + '.' + std::to_string(v % 1000 / 10); };
  if (driver == 0)
    problem = "there is no NVIDIA driver on this machine. Install one, or stay on Device::CPU.";
  else if (error == cudaErrorInsufficientDriver)
    problem = "the NVIDIA driver (for CUDA " + version(driver) + ") is older than the runtime (CUDA " +
              version(runtime) + "). Update the driver.";
  else if (error == cudaSuccess || error == cudaErrorNoDevice)
    problem = "no CUDA device is visible. Check nvidia-smi and CUDA_VISIBLE_DEVICES, or stay on Device::CPU.";
  else
    problem = std::string(cudaGetErrorString(error)) + " (" + cudaGetErrorName(error) + ").";
  cudaGetLastError();
  return problem.c_str();
}

}  // namespace
}  // namespace ebb::cuda

extern "C" EBB_API const char* ebb_plugin_entry(std::uint32_t host_abi) {
  using namespace ebb::cuda;
  if (host_abi != ebb::detail::kPluginAbi)
    return "it was built for another version of ebb. Reinstall both together.";
  if (const char* problem = find_device()) return problem;
  fill_slots();
  register_elementwise();
  register_pointwise_losses();
  // The backend is set last, because other threads assume that all kernels are in their slots as soon as it
  // is set.
  ebb::detail::set_backend(ebb::DeviceType::CUDA, &kBackend);
  return nullptr;
}
