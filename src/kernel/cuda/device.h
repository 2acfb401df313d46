// The functions of the CUDA runtime layer (src/cuda) that kernels use: the device and stream on which work is
// queued, and the random generators of the devices.
#pragma once

#include <ebb/core/device.h>
#include <ebb/core/random.h>

#include "kernel/philox.h"

#include <cuda_runtime.h>

namespace ebb::cuda {

/// Throws ebb::Error with `what` and CUDA's message, unless `error` is cudaSuccess.
void check(cudaError_t error, const char* what);

/// Returns the calling thread's current stream of the device.
cudaStream_t current_stream(Device device);

/// Returns the number of streaming multiprocessors, which bounds the useful number of blocks.
int multiprocessors(Device device);

/// Copies bytes to the host and waits for the copy.
void read_back(void* to, Device device, const void* from, std::size_t bytes);
template <class T>
T read_back(Device device, const T* from) {
  T value;
  read_back(&value, device, from, sizeof(T));
  return value;
}

/// Makes `device` the calling thread's current device for a scope.
class DeviceScope {
 public:
  explicit DeviceScope(Device device);
  ~DeviceScope();
  DeviceScope(const DeviceScope&) = delete;

 private:
  int previous_ = -1;  // -1: nothing to restore
};

/// Returns the Philox state for one kernel. If `generator` is the CPU's default generator, the state comes
/// from the device's own generator, which manual_seed() also seeds. Otherwise its seed is a number drawn from
/// `generator`.
Philox next_philox(Device device, Generator& generator);

}  // namespace ebb::cuda
