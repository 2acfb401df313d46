// The cuDNN handles of a thread.
#pragma once

#include "cuda/nvidia/dnn/library.h"
#include "cuda/runtime.h"

#include <array>

namespace ebb::cuda::dnn {

/// The handles of a thread; they return to the pool when the thread ends.
class Handles {
 public:
  Handles() = default;
  Handles(const Handles&) = delete;
  ~Handles();
  /// Returns the handle of a device, set to the device's current stream.
  cudnnHandle_t on(Device device);

 private:
  std::array<cudnnHandle_t, kMaxDevices> held_{};
};

/// Returns the handles of the calling thread.
Handles& handles();

/// Returns whether the device's current stream is being captured into a graph.
bool is_capturing(Device device);

}  // namespace ebb::cuda::dnn
