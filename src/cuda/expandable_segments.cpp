// The expandable segments of the caching allocator.
#include "cuda/caching_allocator.h"
#include "cuda/runtime.h"

#include <algorithm>

namespace ebb::cuda {
namespace {

constexpr std::size_t kSmallGranule = std::size_t{2} << 20;
constexpr std::size_t kLargeGranule = std::size_t{20} << 20;

std::size_t rounded_up(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

// Waits for the work queued on the stream. Returns false if the stream is being captured or the wait fails.
bool wait_for(Device device, cudaStream_t stream) noexcept {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  try {
    const DeviceScope scope(device);  // default streams belong to the current device
    if (cudaStreamIsCapturing(stream, &status) == cudaSuccess && status == cudaStreamCaptureStatusNone &&
        cudaStreamSynchronize(stream) == cudaSuccess)
      return true;
  } catch (const Error&) {
    return false;  // the device is lost
  }
  cudaGetLastError();
  return false;
}

}  // namespace

// Reserves addresses for all memory of the device. The result is one block without memory, in the list of
// unmapped blocks. Returns null if `bytes` exceeds the device's memory.
MemoryBlock* CachingAllocator::new_range(std::size_t bytes, bool small, cudaStream_t stream) {
  std::size_t free = 0, total = 0;
  check(source_.memory(&free, &total), "cudaMemGetInfo");
  if (bytes > total) return nullptr;
  const std::size_t granule =
      rounded_up(small ? kSmallGranule : kLargeGranule, virtual_memory_granularity(device_));
  // Reserves one eighth more than the device's memory, because of the gaps between blocks in use.
  auto range = std::make_unique<AddressRange>(device_, rounded_up(total + total / 8, granule), granule);
  auto* const block = new MemoryBlock;
  block->data = range->data();
  block->bytes = range->bytes();
  block->stream = stream;
  block->owner = this;
  block->small = small;
  block->mapped = false;
  block->range = range.release();
  unmapped_.insert(block);
  segments_.insert(block);
  return block;
}

// Returns the first block of a run of adjacent unused blocks, mapped or unmapped, with at least `bytes` bytes
// of addresses. Returns null if there is none.
MemoryBlock* CachingAllocator::place_for(std::size_t bytes, bool small, cudaStream_t stream) {
  MemoryBlock key;
  key.stream = stream;
  for (auto at = unmapped_.lower_bound(&key); at != unmapped_.end() && (*at)->stream == stream; ++at) {
    MemoryBlock* const hole = *at;
    if (hole->small != small) continue;
    MemoryBlock* const first = hole->before && !hole->before->used ? hole->before : hole;
    std::size_t sum = 0;
    for (const MemoryBlock* block = first; block && !block->used && sum < bytes; block = block->after)
      sum += block->bytes;
    if (sum >= bytes) return first;
  }
  return nullptr;
}

// Maps memory to the first granules of an unmapped block, at least `bytes` if the block is large enough.
// These granules become a block in the free list. Returns false without any effect if the device has no
// memory left.
bool CachingAllocator::map_front(MemoryBlock* block, std::size_t bytes) {
  const std::size_t size = std::min(rounded_up(bytes, block->range->granule()), block->bytes);
  if (!figures_->reserve(size)) return false;
  bool mapped = false;
  try {
    mapped = block->range->map(block->data, size);
  } catch (...) {
    figures_->reserved -= size;
    throw;
  }
  if (!mapped) {
    figures_->reserved -= size;
    return false;
  }
  figures_->trace.add(MemoryTrace::Action::segment_map, block->data, size, block->stream);
  unmapped_.erase(block);
  if (block->bytes > size) unmapped_.insert(split_off(block, size));
  block->mapped = true;
  free_[block->small].insert(block);
  return true;
}

MemoryBlock* CachingAllocator::expand(std::size_t bytes, bool small, cudaStream_t stream) {
  MemoryBlock* block = place_for(bytes, small, stream);
  if (!block) block = new_range(bytes, small, stream);
  if (!block || (!block->mapped && !map_front(block, bytes))) return nullptr;
  free_[small].erase(block);
  try {
    while (block->bytes < bytes) {
      MemoryBlock* const next = block->after;
      if (!next->mapped && !map_front(next, bytes - block->bytes)) {
        give_back(block);
        return nullptr;
      }
      block = join(block, next);
    }
  } catch (...) {
    give_back(block);
    throw;
  }
  return block;
}

// Unmaps the whole granules of free blocks. Unlike cudaFree, unmapping does not wait for the device.
void CachingAllocator::unmap_free() {
  std::vector<MemoryBlock*> blocks;
  for (const FreeList& list : free_) blocks.insert(blocks.end(), list.begin(), list.end());
  cudaStream_t waited = nullptr;
  bool any = false, done = false;
  for (MemoryBlock* block : blocks) {  // sorted by stream within each list
    if (!any || block->stream != waited) done = wait_for(device_, waited = block->stream);
    any = true;
    if (done) unmap_inside(block);
  }
  // Releases ranges that have no memory left.
  blocks.assign(unmapped_.begin(), unmapped_.end());
  for (MemoryBlock* block : blocks) {
    if (block->before || block->after) continue;
    unmapped_.erase(block);
    segments_.erase(block);
    delete block->range;
    delete block;
  }
}

void CachingAllocator::unmap_inside(MemoryBlock* block) {
  AddressRange& range = *block->range;
  const auto offset = static_cast<std::size_t>(block->data - range.data());
  const std::size_t from = rounded_up(offset, range.granule());
  const std::size_t to = (offset + block->bytes) / range.granule() * range.granule();
  if (from >= to) return;
  free_[block->small].erase(block);
  if (offset + block->bytes > to) {
    MemoryBlock* const rest = split_off(block, to - offset);
    free_[rest->small].insert(rest);
  }
  if (from > offset) {
    MemoryBlock* const middle = split_off(block, from - offset);
    free_[block->small].insert(block);
    block = middle;
  }
  range.unmap(block->data, block->bytes);
  figures_->reserved -= block->bytes;
  figures_->trace.add(MemoryTrace::Action::segment_unmap, block->data, block->bytes, block->stream);
  block->mapped = false;
  block = joined_with_neighbours(block);
  unmapped_.insert(block);
}

}  // namespace ebb::cuda
