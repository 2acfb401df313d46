#include <array>
#include <cstdlib>
#include <string_view>

#include "cuda/caching_allocator.h"
#include "cuda/runtime.h"

namespace ebb::cuda {
namespace {

// The driver's own pools in place of ebb's cache.
bool uses_async_allocator() {
  static const bool chosen = [] {
    const char* name = std::getenv("EBB_CUDA_ALLOCATOR");
    if (!name || std::string_view(name) == "caching") return false;
    EBB_CHECK(std::string_view(name) == "async", "EBB_CUDA_ALLOCATOR=", name,
              " is neither caching nor async.");
    return true;
  }();
  return chosen;
}

constexpr MemorySource kDriver = {
    [](void** pointer, std::size_t bytes) { return cudaMalloc(pointer, bytes); },
    [](void* pointer) { return cudaFree(pointer); },
    [](std::size_t* free, std::size_t* total) { return cudaMemGetInfo(free, total); }};

// Never destroyed: tensors in static storage are freed after everything else.
CachingAllocator& allocator_of(Device device) {
  static std::array<CachingAllocator*, kMaxDevices>* const all = [] {
    auto* made = new std::array<CachingAllocator*, kMaxDevices>{};
    for (int i = 0; i < visible_devices(); ++i)
      (*made)[static_cast<std::size_t>(i)] = new CachingAllocator(kDriver, i);
    return made;
  }();
  properties_of(device.index());  // throws for a device that is not there
  return *(*all)[static_cast<std::size_t>(device.index())];
}

}  // namespace

ebb::detail::DeviceBlock allocate(std::size_t bytes, Device device) {
  const DeviceScope scope(device);
  const cudaStream_t stream = current_stream(device);
  if (uses_async_allocator()) {
    ebb::detail::DeviceBlock block{nullptr, bytes, device, stream};
    check(cudaMallocAsync(&block.data, bytes > 0 ? bytes : 1, stream), "cudaMallocAsync");
    return block;
  }
  MemoryBlock* const block = allocator_of(device).allocate(bytes, stream);
  return {block->data, block->bytes, device, block};
}

void free(ebb::detail::DeviceBlock block) noexcept {
  if (uses_async_allocator())
    cudaFreeAsync(block.data, static_cast<cudaStream_t>(block.context));
  else
    allocator_of(block.device).free(static_cast<MemoryBlock*>(block.context));
}

MemoryStats memory_stats_of(Device device) { return allocator_of(device).stats(); }
void reset_peak_of(Device device) { allocator_of(device).reset_peak(); }
void empty_cache_of(Device device) {
  const DeviceScope scope(device);
  // What is given back may still be read by work that is queued.
  check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
  allocator_of(device).empty_cache();
}

void copy_bytes(void* to, Device to_device, const void* from, Device from_device, std::size_t bytes) {
  const Device device = to_device.is_cuda() ? to_device : from_device;
  const DeviceScope scope(device);
  const cudaStream_t stream = current_stream(device);
  if (to_device.is_cuda() && from_device.is_cuda() && to_device.index() != from_device.index()) {
    // The other device's queue is not ours: let it finish what it writes.
    {
      const DeviceScope other(from_device);
      check(cudaStreamSynchronize(current_stream(from_device)), "copy between devices");
    }
    check(cudaMemcpyPeerAsync(to, to_device.index(), from, from_device.index(), bytes, stream),
          "copy between devices");
    check(cudaStreamSynchronize(stream), "copy between devices");
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
