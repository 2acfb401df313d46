// The device that work is queued on: what the runtime (src/cuda) answers to kernels.
#pragma once

#include <ebb/core/device.h>

#include <cuda_runtime.h>

namespace ebb::cuda {

/// Throws ebb::Error with what failed and CUDA's own words unless `error` is cudaSuccess.
void check(cudaError_t error, const char* what);

/// The calling thread's current stream of the device.
cudaStream_t current_stream(Device device);

/// Streaming multiprocessors of the device, which bound how many blocks are worth launching.
int multiprocessors(Device device);

/// Copies bytes to the host and waits for them.
void read_back(void* to, Device device, const void* from, std::size_t bytes);
template <class T>
T read_back(Device device, const T* from) {
  T value;
  read_back(&value, device, from, sizeof(T));
  return value;
}

/// Makes `device` the calling thread's for a lifetime.
class DeviceScope {
 public:
  explicit DeviceScope(Device device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;

 private:
  int previous_ = -1;  // -1: nothing to restore
};

}  // namespace ebb::cuda
