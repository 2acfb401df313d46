#include "kernel/cuda/device.h"

#include <array>

#include "cuda/runtime.h"

namespace ebb::cuda {

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) [[likely]]
    return;
  cudaGetLastError();  // reported once
  ebb::detail::fail("CUDA: ", what, " failed: ", cudaGetErrorString(error), " (", cudaGetErrorName(error),
                    ").");
}

int visible_devices() {
  static const int count = [] {
    int found = 0;
    // Without a driver the call fails and leaves its argument alone.
    return cudaGetDeviceCount(&found) == cudaSuccess ? found : 0;
  }();
  return count;
}

const cudaDeviceProp& properties_of(int device) {
  static const std::vector<cudaDeviceProp> all = [] {
    std::vector<cudaDeviceProp> found(static_cast<std::size_t>(visible_devices()));
    for (int i = 0; i < visible_devices(); ++i)
      check(cudaGetDeviceProperties(&found[i], i), "cudaGetDeviceProperties");
    return found;
  }();
  EBB_CHECK(device >= 0 && device < visible_devices(), "Device::CUDA: there is no device cuda:", device,
            " among the ", visible_devices(), " here. Choose one of them.");
  return all[static_cast<std::size_t>(device)];
}

int multiprocessors(Device device) { return properties_of(device.index()).multiProcessorCount; }

DeviceScope::DeviceScope(Device device) {
  int current = 0;
  check(cudaGetDevice(&current), "cudaGetDevice");
  if (current == device.index()) return;
  properties_of(device.index());  // throws for a device that is not there
  check(cudaSetDevice(device.index()), "cudaSetDevice");
  previous_ = current;
}

DeviceScope::~DeviceScope() {
  if (previous_ >= 0) cudaSetDevice(previous_);
}

namespace {

constinit thread_local std::array<cudaStream_t, kMaxDevices> streams{};

}  // namespace

cudaStream_t current_stream(Device device) { return streams[static_cast<std::size_t>(device.index())]; }
void set_current_stream(Device device, cudaStream_t stream) {
  streams[static_cast<std::size_t>(device.index())] = stream;
}

}  // namespace ebb::cuda
