// Memory pools that graphs share.
#include "cuda/graph_memory.h"

#include "cuda/device_pool.h"
#include "cuda/memory.h"

namespace ebb::cuda {
namespace {

// The streams on which graphs are captured. They are reused and never destroyed, because a recorded node may
// refer to its stream after the graph is destroyed.
DevicePool<cudaStream_t>& capture_streams() {
  static auto* const streams = new DevicePool<cudaStream_t>;
  return *streams;
}

}  // namespace

std::uint64_t GraphPoolMemory::next_id() {
  static std::atomic<std::uint64_t> last{0};
  return ++last;
}

GraphPoolMemory::~GraphPoolMemory() {
  for (auto& allocator : allocators_)
    if (allocator) CachingAllocator::retire(std::move(allocator));
  for (std::size_t i = 0; i < streams_.size(); ++i)
    if (streams_[i]) capture_streams().give(Device(kCUDA, static_cast<std::int64_t>(i)), streams_[i]);
}

CachingAllocator& GraphPoolMemory::on(Device device) {
  auto& allocator = allocators_[static_cast<std::size_t>(device.index())];
  if (!allocator) allocator = make_graph_allocator(device, id_);
  return *allocator;
}

cudaStream_t GraphPoolMemory::begin_capture(Device device) {
  EBB_CHECK(!capturing_.exchange(true),
            "cuda::Graph: another graph is being captured in this pool. Let one capture end before the next "
            "begins, or use a pool for each.");
  cudaStream_t& stream = streams_[static_cast<std::size_t>(device.index())];
  try {
    if (!stream)
      stream = capture_streams().take(device, [] {
        cudaStream_t made = nullptr;
        check(cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking), "cudaStreamCreate");
        return made;
      });
  } catch (...) {
    end_capture();
    throw;
  }
  return stream;
}

}  // namespace ebb::cuda
