// Devices and their properties, errors of the CUDA runtime, and the device functions that kernels use.
#include "kernel/cuda/device.h"

#include "cuda/architectures.h"
#include "cuda/runtime.h"
#include "kernel/cuda/launch.h"

#include <atomic>
#include <mutex>
#include <unordered_map>

namespace ebb::cuda {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) [[likely]]
    return;
  cudaGetLastError();  // clears the error, so that it is reported only once
  // If a kernel failed, the error remains in the device's context, and every later call returns it.
  const bool stays = cudaPeekAtLastError() == error;
  ebb::detail::fail(
      "CUDA: ", what, " failed: ", cudaGetErrorString(error), " (", cudaGetErrorName(error), ")",
      stays ? "; an earlier kernel caused the error, and this process cannot use the device any "
              "more. Run it with CUDA_LAUNCH_BLOCKING=1, or under compute-sanitizer, to find "
              "the kernel."
            : ".");
}

int visible_devices() {
  static const int count = [] {
    int found = 0;
    // Without a driver, the call fails and does not change `found`.
    return cudaGetDeviceCount(&found) == cudaSuccess ? found : 0;
  }();
  return count;
}

const cudaDeviceProp& properties_of(int device) {
  // Never destroyed: tensors in static variables are freed last.
  static const std::vector<cudaDeviceProp>& all = *[] {
    auto* const found = new std::vector<cudaDeviceProp>(static_cast<std::size_t>(visible_devices()));
    for (int i = 0; i < visible_devices(); ++i)
      check(cudaGetDeviceProperties(&(*found)[static_cast<std::size_t>(i)], i), "cudaGetDeviceProperties");
    return found;
  }();
  EBB_CHECK(device >= 0 && device < visible_devices(), "Device::CUDA: there is no device cuda:", device,
            "; the number of devices is ", visible_devices(), ". Choose one of them.");
  return all[static_cast<std::size_t>(device)];
}

int multiprocessors(Device device) { return properties_of(device.index()).multiProcessorCount; }

namespace {
constinit thread_local ThreadState state_of_thread;
}

ThreadState& thread_state() { return state_of_thread; }

int current_device_index() {
  int device = thread_state().device;
  if (device < 0) check(cudaGetDevice(&device), "cudaGetDevice");
  return device;
}

// Calls cudaSetDevice(), unless this thread has already selected the device through this function. The call
// is needed even for CUDA's default device, because it makes the device's context current, which libraries
// that use the driver API require.
void set_current_device(int device) {
  if (thread_state().device == device) return;
  const std::string problem = why_not_used(device);  // throws if there is no such device
  EBB_CHECK(problem.empty(), "Device::CUDA: the plugin cannot be used on cuda:", device, ": ", problem);
  check(cudaSetDevice(device), "cudaSetDevice");
  thread_state().device = device;
}

DeviceScope::DeviceScope(Device device) {
  if (thread_state().device == device.index()) [[likely]]
    return;
  const int current = current_device_index();
  set_current_device(device.index());
  if (current != device.index()) previous_ = current;
}

DeviceScope::~DeviceScope() {
  if (previous_ < 0) return;
  if (cudaSetDevice(previous_) == cudaSuccess)
    thread_state().device = previous_;
  else
    thread_state().device = -1;  // unknown, so that the next call sets it again
}

cudaStream_t stream_of(Device device) {
  return thread_state().streams[static_cast<std::size_t>(device.index())];
}
void set_current_stream(Device device, cudaStream_t stream) {
  thread_state().streams[static_cast<std::size_t>(device.index())] = stream;
}

namespace {

// Checks that the stream takes part in the capture. Otherwise its work would run immediately, and never in a
// replay.
void check_captured(Device device, cudaStream_t stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  const cudaError_t error = cudaStreamIsCapturing(stream, &status);
  if (error != cudaSuccess) cudaGetLastError();
  EBB_CHECK(error == cudaSuccess && status != cudaStreamCaptureStatusNone,
            "cuda::Graph: while a graph is captured, work was sent to ",
            stream ? "a stream" : "the default stream", " of ", device,
            ", which takes no part in the capture. Let that stream wait for an event recorded on the current "
            "stream "
            "of the capture, or stay on the capturing stream and its device.");
  EBB_CHECK(
      status == cudaStreamCaptureStatusActive,
      "cuda::Graph: an earlier call that cannot be captured has invalidated the capture. Look for copies to "
      "the CPU, waits, and libraries that use their own streams.");
}

}  // namespace

cudaStream_t current_stream(Device device) {
  const ThreadState& state = thread_state();
  const cudaStream_t stream = state.streams[static_cast<std::size_t>(device.index())];
  if (state.capture) [[unlikely]]
    check_captured(device, stream);
  return stream;
}

void refuse_in_capture(const char* what) {
  EBB_CHECK(
      !thread_state().capture, "cuda::Graph: ", what,
      " while a graph is captured: captured work does not run yet, so there is nothing to wait for or to "
      "read. Do this outside of the capture, after replay().");
}

namespace {
std::array<std::atomic<int>, kMaxDevices> captures;
}

void count_capture(Device device, int change) noexcept {
  captures[static_cast<std::size_t>(device.index())] += change;
}

void wait_for_device(Device device) {
  EBB_CHECK(captures[static_cast<std::size_t>(device.index())] == 0,
            "cuda::Graph: the host waits for all of ", device,
            " (synchronize(), empty_cache()) while another thread captures a graph there. Wait for a stream "
            "instead, or for the capture to end.");
  const DeviceScope scope(device);
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

namespace {

#if !defined(EBB_CUDA_ARCHITECTURES)
#define EBB_CUDA_ARCHITECTURES "90-real"  // the emulation; its devices have this architecture by default
#endif

std::string why_none_for(int device) {
  const cudaDeviceProp& p = properties_of(device);
  if (has_kernels_for(EBB_CUDA_ARCHITECTURES, p.major, p.minor)) return {};
  const std::string own = std::to_string(p.major) + std::to_string(p.minor);
  return "it was built for the architectures " EBB_CUDA_ARCHITECTURES ", and cuda:" + std::to_string(device) +
         " (" + p.name + ") has the architecture " + own +
         ". Build it with -DCMAKE_CUDA_ARCHITECTURES=" + own +
         ", or select other devices with CUDA_VISIBLE_DEVICES.";
}

}  // namespace

std::string why_not_used(int device) {
  // Never destroyed: tensors in static variables are freed last.
  static const std::vector<std::string>& all = *[] {
    auto* const reasons = new std::vector<std::string>;
    for (int i = 0; i < visible_devices(); ++i) reasons->push_back(why_none_for(i));
    return reasons;
  }();
  properties_of(device);  // throws if there is no such device
  return all[static_cast<std::size_t>(device)];
}

}  // namespace ebb::cuda

namespace ebb::cuda::detail {

// Caches the largest size that each kernel was allowed. The lock and the search cost about 10 ns per launch,
// but cudaFuncSetAttribute would take up to a microsecond.
void allow_shared_bytes(Device device, const void* kernel, std::size_t bytes) {
  struct Allowed {
    std::mutex mutex;
    std::unordered_map<const void*, std::size_t> bytes;  // the maximum of all calls
  };
  static auto* const all =
      new std::array<Allowed, kMaxDevices>{};  // never destroyed, because kernels are launched until the end
  Allowed& allowed = (*all)[static_cast<std::size_t>(device.index())];
  // The lock is held during cudaFuncSetAttribute(), so that a thread that needs less memory cannot overwrite
  // a larger limit.
  const std::lock_guard lock(allowed.mutex);
  const auto found = allowed.bytes.find(kernel);
  if (found != allowed.bytes.end() && found->second >= bytes) return;
  check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)),
        "shared memory of a kernel");
  allowed.bytes.insert_or_assign(kernel, bytes);
}

}  // namespace ebb::cuda::detail
