#include "cuda/runtime.h"

namespace ebb::cuda {

ebb::detail::DeviceBlock allocate(std::size_t bytes, Device device) {
  const DeviceScope scope(device);
  ebb::detail::DeviceBlock block{nullptr, bytes, device, nullptr};
  check(cudaMalloc(&block.data, bytes), "cudaMalloc");
  return block;
}

void free(ebb::detail::DeviceBlock block) noexcept {
  cudaFree(block.data);
}

void copy_bytes(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes) {
  const Device device = to_device.is_cuda() ? to_device : from_device;
  const DeviceScope scope(device);
  const cudaStream_t stream = current_stream(device);
  if (to_device.is_cuda() && from_device.is_cuda() && to_device.index() != from_device.index()) {
    check(cudaMemcpyPeerAsync(to, to_device.index(), from, from_device.index(), bytes, stream), "copy between devices");
    return;
  }
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream), "copy");
  if (!to_device.is_cpu()) return;
  check(cudaStreamSynchronize(stream), "copy to the CPU");
  check_faults(device);
}

void read_back(void* to, Device device, const void* from, std::size_t bytes) {
  copy_bytes(to, Device(kCPU), from, device, bytes);
}

}  // namespace ebb::cuda
