// Device memory from the driver's memory pools.
#include "cuda/async_allocator.h"

#include "cuda/runtime.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>

namespace ebb::cuda {

AsyncAllocator::AsyncAllocator(Device device) : device_(device) {
  check(cudaDeviceGetDefaultMemPool(&pool_, device.index()), "cudaDeviceGetDefaultMemPool");
  // Makes the pool keep all free memory. By default, the pool returns free memory to the device at each
  // synchronization.
  std::uint64_t everything = ~std::uint64_t{0};
  check(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &everything),
        "cudaMemPoolSetAttribute");
}

MemoryBlock* AsyncAllocator::allocate(std::size_t bytes, cudaStream_t stream) {
  release_kept();
  auto block = std::make_unique<MemoryBlock>();
  // Rounds up to 4-byte words, because atomic updates of single bytes access the whole word
  // (kernel/cuda/atomic.h).
  block->bytes = (std::max<std::size_t>(bytes, 1) + 3) / 4 * 4;
  block->stream = stream;
  void* data = nullptr;
  const auto obtain = [&] {
    return figures_.current + block->bytes > figures_.limit ? cudaErrorMemoryAllocation
                                                            : cudaMallocAsync(&data, block->bytes, stream);
  };
  cudaError_t error = obtain();
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    empty_cache();
    error = obtain();
  }
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    std::size_t free = 0, total = 0;
    check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    fail_out_of_memory(device_, bytes, figures_, stats(), free, total);
  }
  check(error, "cudaMallocAsync");
  block->data = static_cast<char*>(data);
  figures_.add(block->bytes);
  return block.release();
}

void AsyncAllocator::record_use(MemoryBlock* block, const StreamUse& use) {
  const std::lock_guard lock(mutex_);
  if (!(use == StreamUse{device_, block->stream})) add_use(block->uses, use);
}

void AsyncAllocator::free(MemoryBlock* block) noexcept {
  figures_.current -= block->bytes;
  if (!thread_state().capture) return release(block);
  const std::lock_guard lock(mutex_);
  kept_.push_back(block);
}

void AsyncAllocator::release(MemoryBlock* block) noexcept {
  const std::unique_ptr<MemoryBlock> gone(block);
  try {
    for (const StreamUse& use : block->uses) order_streams(use.device, use.stream, device_, block->stream);
    const DeviceScope scope(device_);
    if (cudaFreeAsync(block->data, block->stream) != cudaSuccess) cudaGetLastError();
  } catch (const Error&) {
    // Leaks the block, because another stream may still use it.
  }
}

void AsyncAllocator::release_kept() noexcept {
  if (thread_state().capture) return;
  std::vector<MemoryBlock*> kept;
  {
    const std::lock_guard lock(mutex_);
    kept.swap(kept_);
  }
  for (MemoryBlock* block : kept) release(block);
}

void AsyncAllocator::empty_cache() {
  release_kept();
  wait_for_device(device_);
  check(cudaMemPoolTrimTo(pool_, 0), "cudaMemPoolTrimTo");
}

MemoryStats AsyncAllocator::stats() const {
  std::uint64_t reserved = 0;
  check(cudaMemPoolGetAttribute(pool_, cudaMemPoolAttrReservedMemCurrent, &reserved),
        "cudaMemPoolGetAttribute");
  const std::size_t current = figures_.current;
  return {current, figures_.peak, reserved > current ? static_cast<std::size_t>(reserved) - current : 0,
          figures_.allocations};
}

}  // namespace ebb::cuda
