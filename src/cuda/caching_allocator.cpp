// Device memory from segments that are kept, split and joined.
#include "cuda/caching_allocator.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <string>
#include <utility>

#include "kernel/cuda/device.h"

namespace ebb::cuda {
namespace {

constexpr std::size_t kRound = 512;
constexpr std::size_t kSmallMost = std::size_t{1} << 20;
constexpr std::size_t kSmallSegment = std::size_t{2} << 20;
constexpr std::size_t kLargeSegment = std::size_t{20} << 20;
constexpr std::size_t kLargeRound = std::size_t{2} << 20;

std::size_t rounded(std::size_t bytes, std::size_t unit) { return (bytes + unit - 1) / unit * unit; }

std::size_t segment_bytes(std::size_t bytes, bool small) {
  if (small) return kSmallSegment;
  return bytes < kLargeSegment / 2 ? kLargeSegment : rounded(bytes, kLargeRound);
}

// Whether what is left is worth a block of its own.
bool worth_splitting(std::size_t rest, bool small) { return small ? rest >= kRound : rest > kSmallMost; }

std::string amount(std::size_t bytes) {
  return bytes < (1 << 20) ? std::to_string(bytes) + " bytes" : std::to_string(bytes >> 20) + " MiB";
}

}  // namespace

void fail_out_of_memory(Device device, std::size_t bytes, const MemoryStats& stats, std::size_t free,
                        std::size_t total) {
  ebb::detail::fail("Device::CUDA: out of memory on ", device, ": tried to allocate ", amount(bytes), "; of ",
                    amount(total), " in all, ", amount(free), " are free, ", amount(stats.current),
                    " are in ebb's live tensors and ", amount(stats.cached),
                    " in pieces that are cached. Use smaller batches or tensors, or free some.");
}

struct CachingAllocator::Aside {
  cudaStream_t stream;
  std::array<MemoryBlock*, kSmallMost / kRound + 1> first{};  // by size
};

CachingAllocator::CachingAllocator(MemorySource source, Device device) : source_(source), device_(device) {}
CachingAllocator::CachingAllocator(MemorySource source, CachingAllocator& general)
    : source_(source), device_(general.device_), general_(&general), figures_(general.figures_) {}
CachingAllocator::~CachingAllocator() = default;

CachingAllocator::Aside& CachingAllocator::aside_of(cudaStream_t stream) {
  for (const auto& aside : aside_)
    if (aside->stream == stream) return *aside;
  aside_.push_back(std::make_unique<Aside>(Aside{stream}));
  return *aside_.back();
}

void CachingAllocator::join_aside() {
  for (const auto& aside : aside_)
    for (MemoryBlock*& first : aside->first)
      for (MemoryBlock* block = std::exchange(first, nullptr); block;) {
        MemoryBlock* const next = block->next;  // which is not joined: it counts as used
        give_back(block);
        block = next;
      }
}

bool CachingAllocator::Smaller::operator()(const MemoryBlock* a, const MemoryBlock* b) const {
  // Streams are pointers: std::less orders any two.
  const std::less<const void*> before;
  if (a->stream != b->stream) return before(a->stream, b->stream);
  return a->bytes != b->bytes ? a->bytes < b->bytes : before(a->data, b->data);
}

MemoryBlock* CachingAllocator::take_free(std::size_t bytes, bool small, cudaStream_t stream) {
  MemoryBlock key;
  key.bytes = bytes;
  key.stream = stream;
  FreeList& list = free_[small];
  const auto found = list.lower_bound(&key);
  if (found == list.end() || (*found)->stream != stream) return nullptr;
  MemoryBlock* const block = *found;
  list.erase(found);
  return block;
}

MemoryBlock* CachingAllocator::new_segment(std::size_t bytes, bool small, cudaStream_t stream) {
  const std::size_t size = segment_bytes(bytes, small);
  void* data = nullptr;
  cudaError_t error = source_.allocate(&data, size);
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    waiting_.collect(true, [this](MemoryBlock* block) { give_back(block); });
    release_segments();
    if (general_) general_->empty_cache();
    error = source_.allocate(&data, size);
  }
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    std::size_t free = 0, total = 0;
    check(source_.memory(&free, &total), "cudaMemGetInfo");
    fail_out_of_memory(device_, bytes, stats(), free, total);
  }
  check(error, "cudaMalloc");
  figures_->reserved += size;
  auto block = std::make_unique<MemoryBlock>();
  block->data = static_cast<char*>(data);
  block->bytes = size;
  block->stream = stream;
  block->owner = this;
  block->small = small;
  return block.release();
}

void CachingAllocator::split(MemoryBlock* block, std::size_t bytes) {
  if (!worth_splitting(block->bytes - bytes, block->small)) return;
  auto* const rest = new MemoryBlock(*block);
  rest->data = block->data + bytes;
  rest->bytes = block->bytes - bytes;
  rest->before = block;
  if (rest->after) rest->after->before = rest;
  block->after = rest;
  block->bytes = bytes;
  list_of(*rest).insert(rest);
}

MemoryBlock* CachingAllocator::allocate(std::size_t bytes, cudaStream_t stream) {
  EBB_CHECK(bytes <= std::numeric_limits<std::size_t>::max() / 2, "Device::CUDA: cannot allocate ",
            std::uint64_t{bytes}, " bytes. Use smaller tensors.");
  const std::size_t size = std::max(rounded(bytes, kRound), kRound);
  const bool small = size <= kSmallMost;
  const std::lock_guard lock(mutex_);
  if (!waiting_.empty() && !general_) [[unlikely]]
    waiting_.collect(false, [this](MemoryBlock* block) { give_back(block); });
  MemoryBlock* block = nullptr;
  if (small) {
    MemoryBlock*& first = aside_of(stream).first[size / kRound];
    if (first) [[likely]]
      block = std::exchange(first, first->next);
  }
  if (!block) block = take_free(size, small, stream);
  if (!block && small) {
    join_aside();
    block = take_free(size, small, stream);
  }
  if (!block) block = new_segment(size, small, stream);
  if (block->bytes != size) split(block, size);
  block->used = true;
  ++live_;
  figures_->add(block->bytes);
  return block;
}

// The two as one; the neighbour, which is free, ceases to be.
MemoryBlock* CachingAllocator::join(MemoryBlock* block, MemoryBlock* neighbour) {
  list_of(*neighbour).erase(neighbour);
  MemoryBlock *const first = neighbour == block->before ? neighbour : block, *const second = first == block
                                                                                                 ? neighbour
                                                                                                 : block;
  block->data = first->data;
  block->bytes = first->bytes + second->bytes;
  MemoryBlock *const before = first->before, *const after = second->after;
  block->before = before;
  block->after = after;
  if (before) before->after = block;
  if (after) after->before = block;
  delete neighbour;
  return block;
}

void CachingAllocator::free(MemoryBlock* block) noexcept {
  bool last;
  {
    const std::lock_guard lock(mutex_);
    figures_->current.fetch_sub(block->bytes, std::memory_order_relaxed);
    last = --live_ == 0 && retired_;
    if (block->small && block->uses.empty()) [[likely]] {
      MemoryBlock*& first = aside_of(block->stream).first[block->bytes / kRound];
      block->next = std::exchange(first, block);
    } else if (block->uses.empty()) {
      give_back(block);
    } else {
      waiting_.add(block, std::exchange(block->uses, {}));
    }
  }
  if (last) retire(std::unique_ptr<CachingAllocator>(this));
}

void CachingAllocator::record_use(MemoryBlock* block, StreamUse use) {
  if (use == StreamUse{device_, block->stream}) return;
  const std::lock_guard lock(mutex_);
  add_use(block->uses, use);
}

// Into the free list, joined with its neighbours.
void CachingAllocator::give_back(MemoryBlock* block) {
  block->used = false;
  if (block->before && !block->before->used) block = join(block, block->before);
  if (block->after && !block->after->used) block = join(block, block->after);
  list_of(*block).insert(block);
}

void CachingAllocator::release_segments() {
  join_aside();
  for (FreeList& list : free_) {
    for (auto at = list.begin(); at != list.end();) {
      MemoryBlock* const block = *at;
      if (block->before || block->after) {
        ++at;
        continue;
      }
      at = list.erase(at);
      if (source_.free(block->data) != cudaSuccess) cudaGetLastError();  // an earlier failure's, seen again
      figures_->reserved -= block->bytes;
      delete block;
    }
  }
}

void CachingAllocator::empty_cache() {
  const std::lock_guard lock(mutex_);
  waiting_.collect(true, [this](MemoryBlock* block) { give_back(block); });
  release_segments();
}

void CachingAllocator::retire(std::unique_ptr<CachingAllocator> allocator) noexcept {
  std::unique_lock lock(allocator->mutex_);
  allocator->retired_ = true;
  if (allocator->live_ > 0) {
    lock.unlock();
    static_cast<void>(allocator.release());  // the last free() calls again
    return;
  }
  lock.unlock();
  allocator->empty_cache();
}

MemoryStats CachingAllocator::stats() const {
  const MemoryFigures& f = *figures_;
  return {f.current, f.peak, f.reserved - f.current, f.allocations};
}

void CachingAllocator::reset_peak() { figures_->peak = figures_->current.load(); }

}  // namespace ebb::cuda
