// By what a thread calls cuDNN.
#pragma once

#include "cuda/nvidia/dnn/library.h"
#include "cuda/runtime.h"

#include <array>

namespace ebb::cuda::dnn {

/// The handles of a thread, given back for other threads when it ends.
class Handles {
 public:
  Handles() = default;
  Handles(const Handles&) = delete;
  ~Handles();
  /// That of a device, on whose current stream it works from now on.
  cudnnHandle_t on(Device device);

 private:
  std::array<cudnnHandle_t, kMaxDevices> held_{};
};

/// Those of the calling thread.
Handles& handles();

/// Whether the work of the device's current stream goes to a graph.
bool is_capturing(Device device);

}  // namespace ebb::cuda::dnn
