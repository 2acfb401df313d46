// The pool of cuDNN handles, from which each thread takes its own.
#include "cuda/nvidia/dnn/handles.h"

#include "core/capture.h"
#include "cuda/device_pool.h"
#include "cuda/nvidia/dnn/descriptor.h"

namespace ebb::cuda::dnn {
namespace {

// Handles are reused by later threads, because it takes milliseconds to create one. They are never destroyed,
// because their destruction is not safe at program exit.
DevicePool<cudnnHandle_t>& handle_pool() {
  static auto* const pool = new DevicePool<cudnnHandle_t>;
  return *pool;
}

}  // namespace

Handles::~Handles() {
  for (std::size_t d = 0; d < held_.size(); ++d)
    if (held_[d]) handle_pool().give(Device(kCUDA, static_cast<std::int64_t>(d)), held_[d]);
}

cudnnHandle_t Handles::on(Device device) {
  cudnnHandle_t& held = held_[static_cast<std::size_t>(device.index())];
  if (!held)
    held = handle_pool().take(device, [] {
      cudnnHandle_t made = nullptr;
      check(library().create(&made), "cudnnCreate");
      return made;
    });
  check(library().set_stream(held, current_stream(device)), "cudnnSetStream");
  return held;
}

Handles& handles() {
  static thread_local Handles mine;
  return mine;
}

bool is_capturing(Device device) {
  if (ebb::detail::current_capture()) return true;
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  cuda::check(cudaStreamIsCapturing(current_stream(device), &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

}  // namespace ebb::cuda::dnn
