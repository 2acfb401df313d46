// CachingAllocator: device memory from cached segments, which are split and merged.
#include "cuda/caching_allocator.h"

#include "kernel/cuda/device.h"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <string>
#include <utility>

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

// Returns whether the remainder is large enough for a block of its own.
bool worth_splitting(std::size_t rest, bool small) { return small ? rest >= kRound : rest > kSmallMost; }

std::string amount(std::size_t bytes) {
  return bytes < (1 << 20) ? std::to_string(bytes) + " bytes" : std::to_string(bytes >> 20) + " MiB";
}

}  // namespace

void fail_out_of_memory(Device device, std::size_t bytes, const MemoryFigures& figures,
                        const MemoryStats& stats, std::size_t free, std::size_t total) {
  const std::size_t limit = figures.limit;
  const std::string allowed =
      limit == MemoryFigures::kNoLimit
          ? ""
          : ebb::detail::text(", of which ebb may use ", amount(limit),
                              " (cuda::set_per_process_memory_fraction(", figures.fraction.load(), "))");
  ebb::detail::fail("Device::CUDA: out of memory on ", device, ": tried to allocate ", amount(bytes), "; of ",
                    amount(total), " in total", allowed, ", ", amount(free), " are free, ",
                    amount(stats.current), " are in ebb's live tensors and ", amount(stats.cached),
                    " in its cache. Use smaller batches or tensors, or free some.");
}

struct CachingAllocator::Aside {
  cudaStream_t stream;
  std::array<MemoryBlock*, kSmallMost / kRound + 1> first{};  // first block of each size
};

struct CachingAllocator::Graphs {
  std::mutex mutex;
  std::set<CachingAllocator*> all;
};

CachingAllocator::CachingAllocator(MemorySource source, Device device, bool expandable)
    : source_(source),
      device_(device),
      expandable_(expandable),
      graphs_(std::make_shared<Graphs>()),
      figures_(std::make_shared<MemoryFigures>()) {}
CachingAllocator::CachingAllocator(MemorySource source, CachingAllocator& general, std::uint64_t pool)
    : source_(source),
      device_(general.device_),
      general_(&general),
      pool_(pool),
      graphs_(general.graphs_),
      figures_(general.figures_) {
  const std::lock_guard lock(graphs_->mutex);
  graphs_->all.insert(this);
}
CachingAllocator::~CachingAllocator() {
  const std::lock_guard lock(graphs_->mutex);
  graphs_->all.erase(this);
}

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
        MemoryBlock* const next =
            block->next;  // give_back() does not merge `next`, because it counts as used
        give_back(block);
        block = next;
      }
}

bool CachingAllocator::Smaller::operator()(const MemoryBlock* a, const MemoryBlock* b) const {
  // std::less defines an order for any two pointers.
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

// Obtains new memory and returns it as a block that is in no list.
MemoryBlock* CachingAllocator::more(std::size_t requested, std::size_t bytes, bool small,
                                    cudaStream_t stream) {
  const auto obtain = [&] {
    return expandable_ ? expand(bytes, small, stream) : new_segment(bytes, small, stream);
  };
  MemoryBlock* block = obtain();
  if (block) return block;
  if (general_) {  // an allocator for graphs keeps its memory, which replays use
    general_->empty_cache();
  } else {
    waiting_.collect(true, [this](MemoryBlock* freed) { give_back(freed); });
    release_segments();
  }
  block = obtain();
  if (block) return block;
  std::size_t free = 0, total = 0;
  check(source_.memory(&free, &total), "cudaMemGetInfo");
  figures_->trace.add_out_of_memory(free, requested, stream);
  fail_out_of_memory(device_, requested, *figures_, stats(), free, total);
}

MemoryBlock* CachingAllocator::new_segment(std::size_t bytes, bool small, cudaStream_t stream) {
  const std::size_t size = segment_bytes(bytes, small);
  if (!figures_->reserve(size)) return nullptr;
  void* data = nullptr;
  const cudaError_t error = source_.allocate(&data, size);
  if (error != cudaSuccess) figures_->reserved -= size;
  if (error == cudaErrorMemoryAllocation) {
    cudaGetLastError();
    return nullptr;
  }
  check(error, "cudaMalloc");
  figures_->trace.add(MemoryTrace::Action::segment_alloc, data, size, stream);
  auto* const block = new MemoryBlock;
  block->data = static_cast<char*>(data);
  block->bytes = size;
  block->stream = stream;
  block->owner = this;
  block->small = small;
  segments_.insert(block);
  return block;
}

// Splits off the part of a block after its first `bytes` bytes, and returns this part. Neither part is in a
// free list.
MemoryBlock* CachingAllocator::split_off(MemoryBlock* block, std::size_t bytes) {
  auto* const rest = new MemoryBlock(*block);
  rest->data = block->data + bytes;
  rest->bytes = block->bytes - bytes;
  rest->before = block;
  if (rest->after) rest->after->before = rest;
  block->after = rest;
  block->bytes = bytes;
  return rest;
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
  if (!block) block = more(bytes, size, small, stream);
  block->used = true;
  if (block->bytes != size && worth_splitting(block->bytes - size, small)) {
    MemoryBlock* rest = split_off(block, size);
    rest->used = false;
    rest = joined_with_neighbours(rest);
    list_of(*rest).insert(rest);
  }
  block->requested = bytes;
  ++live_;
  figures_->add(block->bytes);
  figures_->trace.add(MemoryTrace::Action::alloc, block->data, bytes, stream);
  return block;
}

// Merges a block with an adjacent free block and returns the one with the lower address, so that a segment
// keeps its first block. The neighbour is removed from its free list; `block` is in no list.
MemoryBlock* CachingAllocator::join(MemoryBlock* block, MemoryBlock* neighbour) {
  list_of(*neighbour).erase(neighbour);
  const bool ahead = neighbour == block->before;
  MemoryBlock *const first = ahead ? neighbour : block, *const second = ahead ? block : neighbour;
  first->bytes += second->bytes;
  first->after = second->after;
  if (first->after) first->after->before = first;
  delete second;
  return first;
}

void CachingAllocator::free(MemoryBlock* block) noexcept {
  bool last;
  {
    const std::lock_guard lock(mutex_);
    figures_->current.fetch_sub(block->bytes, std::memory_order_relaxed);
    if (figures_->trace.is_on()) [[unlikely]] {
      MemoryTrace& trace = figures_->trace;
      trace.add(MemoryTrace::Action::free_requested, block->data, block->requested, block->stream);
      if (block->uses.empty())
        trace.add(MemoryTrace::Action::free_completed, block->data, block->requested, block->stream);
    }
    last = --live_ == 0 && retired_;
    if (block->small && block->uses.empty()) [[likely]] {
      MemoryBlock*& first = aside_of(block->stream).first[block->bytes / kRound];
      block->next = std::exchange(first, block);
    } else if (block->uses.empty()) {
      give_back(block);
    } else {
      block->waiting = true;
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

MemoryBlock* CachingAllocator::joined_with_neighbours(MemoryBlock* block) {
  const auto joins = [&](const MemoryBlock* other) {
    return other && !other->used && other->mapped == block->mapped;
  };
  if (joins(block->before)) block = join(block, block->before);
  if (joins(block->after)) block = join(block, block->after);
  return block;
}

// Merges a block with its free neighbours and puts it into the free list.
void CachingAllocator::give_back(MemoryBlock* block) {
  if (block->waiting) {
    figures_->trace.add(MemoryTrace::Action::free_completed, block->data, block->requested, block->stream);
    block->waiting = false;
  }
  block->used = false;
  block = joined_with_neighbours(block);
  list_of(*block).insert(block);
}

void CachingAllocator::release_segments() {
  join_aside();
  if (expandable_) return unmap_free();
  for (FreeList& list : free_) {
    for (auto at = list.begin(); at != list.end();) {
      MemoryBlock* const block = *at;
      if (block->before || block->after) {
        ++at;
        continue;
      }
      at = list.erase(at);
      if (source_.free(block->data) != cudaSuccess) cudaGetLastError();  // clears an earlier failure
      figures_->reserved -= block->bytes;
      figures_->trace.add(MemoryTrace::Action::segment_free, block->data, block->bytes, block->stream);
      segments_.erase(block);
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
    static_cast<void>(allocator.release());  // the last free() calls retire() again
    return;
  }
  lock.unlock();
  allocator->empty_cache();
}

void CachingAllocator::describe(ebb::detail::MemorySnapshot& snapshot) {
  describe_own(snapshot);
  const std::lock_guard lock(graphs_->mutex);
  for (CachingAllocator* graph : graphs_->all) graph->describe_own(snapshot);
}

void CachingAllocator::describe_own(ebb::detail::MemorySnapshot& snapshot) {
  using Snapshot = ebb::detail::MemorySnapshot;
  const std::lock_guard lock(mutex_);
  join_aside();  // otherwise blocks set aside would count as used
  for (const MemoryBlock* first : segments_) {
    const auto start = [&] {
      snapshot.segments.push_back({static_cast<int>(device_.index()),
                                   reinterpret_cast<std::uintptr_t>(first->stream),
                                   first->small,
                                   first->range != nullptr,
                                   pool_,
                                   {}});
    };
    // True if the previous block is mapped. Unmapped addresses divide an expandable segment.
    bool together = false;
    for (const MemoryBlock* block = first; block; block = block->after) {
      if (block->mapped && !together) start();
      together = block->mapped;
      if (!block->mapped) continue;
      using State = Snapshot::Block::State;
      const State state = block->waiting ? State::pending_free
                          : block->used  ? State::allocated
                                         : State::inactive;
      snapshot.segments.back().blocks.push_back({reinterpret_cast<std::uintptr_t>(block->data), block->bytes,
                                                 block->used ? block->requested : 0, state});
    }
  }
}

}  // namespace ebb::cuda
