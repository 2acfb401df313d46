// The CPU's caching allocator. Blocks up to kSmall bytes are carved from slabs and kept on lists of the
// calling thread, so that the usual allocation takes no lock; larger ones are kept on shared lists, because a
// fresh mapping costs a page fault for every 4 KiB of every result.
#include "core/allocator.h"

#include <ebb/core/allocator.h>
#include <ebb/core/error.h>

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

namespace ebb {
namespace detail {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kPooling = false;  // let AddressSanitizer see every block
#else
constexpr bool kPooling = true;
#endif

constexpr std::size_t kAlign = 64;
constexpr std::size_t kSmall = 2048;
constexpr std::size_t kClasses = kSmall / kAlign;
constexpr std::size_t kSlabBytes = std::size_t{1} << 16;
constexpr std::uint32_t kListMax = 1 << 17;    // blocks of one class kept by one thread
constexpr std::int64_t kFlushBytes = 1 << 16;  // how far a thread's byte count may run ahead of the total
constexpr std::size_t kCacheMax = std::size_t{1} << 32;  // large bytes kept for reuse

struct FreeBlock {
  FreeBlock* next;
};
struct FreeList {
  FreeBlock* head = nullptr;
  std::uint32_t count = 0;
};

void* system_allocate(std::size_t bytes) {
  void* p = std::aligned_alloc(kAlign, (bytes + kAlign - 1) / kAlign * kAlign);
  if (!p)
    fail("out of memory: the system refused ", std::uint64_t{bytes},
         " bytes. Use smaller tensors or free some.");
  return p;
}

// What all threads share.
struct Shared {
  std::mutex mutex;
  FreeList small[kClasses];
  std::multimap<std::size_t, void*> large;  // by block size
  std::size_t large_bytes = 0;
  std::vector<struct ThreadCache*>
      caches;  // of every thread that ever allocated; reused after the thread ends
  std::vector<struct ThreadCache*> idle;
  std::atomic<std::int64_t> current{0};
  std::atomic<std::int64_t> peak{0};
};

// Never destroyed: tensors in static variables may be freed after every destructor has run.
Shared& shared() {
  static Shared* s = new Shared;
  return *s;
}

// A counter that one thread writes and any thread may read.
class Counter {
 public:
  void add(std::int64_t n) {
    value_.store(value_.load(std::memory_order_relaxed) + n, std::memory_order_relaxed);
  }
  std::int64_t get() const { return value_.load(std::memory_order_relaxed); }
  std::int64_t take() {
    const std::int64_t n = get();
    value_.store(0, std::memory_order_relaxed);
    return n;
  }

 private:
  std::atomic<std::int64_t> value_{0};
};

struct ThreadCache {
  FreeList small[kClasses];
  Counter bytes, cached, allocations, storages, nodes;
  char* slab = nullptr;
  std::size_t slab_left = 0;
};

constinit thread_local ThreadCache* cache_of_thread [[gnu::tls_model("initial-exec")]] = nullptr;

void publish(ThreadCache& cache) {
  const std::int64_t delta = cache.bytes.take();
  Shared& s = shared();
  const std::int64_t now = s.current.fetch_add(delta, std::memory_order_relaxed) + delta;
  std::int64_t peak = s.peak.load(std::memory_order_relaxed);
  while (now > peak && !s.peak.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

// Gives the cache back when its thread ends, for the next thread to use.
struct ThreadGuard {
  ~ThreadGuard() {
    if (!cache_of_thread) return;
    publish(*cache_of_thread);
    std::lock_guard lock(shared().mutex);
    shared().idle.push_back(cache_of_thread);
    cache_of_thread = nullptr;
  }
};

[[gnu::noinline]] ThreadCache& attach_thread() {
  {
    Shared& s = shared();
    std::lock_guard lock(s.mutex);
    if (!s.idle.empty()) {
      cache_of_thread = s.idle.back();
      s.idle.pop_back();
    } else {
      cache_of_thread = new ThreadCache;
      s.caches.push_back(cache_of_thread);
    }
  }
  static thread_local ThreadGuard guard;
  (void)guard;
  return *cache_of_thread;
}

inline ThreadCache& cache() { return cache_of_thread ? *cache_of_thread : attach_thread(); }

inline std::size_t class_of(std::size_t bytes) { return (bytes + kAlign - 1) / kAlign - 1; }

// Takes what the shared list has, else carves from the thread's slab.
[[gnu::noinline]] void* refill(ThreadCache& c, std::size_t cls) {
  const std::size_t bytes = (cls + 1) * kAlign;
  {
    Shared& s = shared();
    std::lock_guard lock(s.mutex);
    if (s.small[cls].head) {
      std::swap(c.small[cls], s.small[cls]);
      FreeBlock* b = c.small[cls].head;
      c.small[cls].head = b->next;
      --c.small[cls].count;
      return b;
    }
  }
  if (c.slab_left < bytes) {
    c.slab = static_cast<char*>(system_allocate(kSlabBytes));
    c.slab_left = kSlabBytes;
  }
  void* p = c.slab;
  c.slab += bytes;
  c.slab_left -= bytes;
  c.cached.add(static_cast<std::int64_t>(bytes));
  return p;
}

// Hands a thread's surplus to the others: one thread may free what another allocates.
[[gnu::noinline]] void spill(ThreadCache& c, std::size_t cls) {
  FreeList mine = std::exchange(c.small[cls], FreeList{});
  FreeBlock* last = mine.head;
  while (last->next) last = last->next;
  Shared& s = shared();
  std::lock_guard lock(s.mutex);
  last->next = s.small[cls].head;
  s.small[cls].head = mine.head;
  s.small[cls].count += mine.count;
}

// Eighths of a power of two: at most 12.5 % is lost to rounding, and sizes meet again.
std::size_t round_large(std::size_t bytes) {
  const std::size_t step = std::max<std::size_t>(std::bit_floor(bytes) / 8, 512);
  return (bytes + step - 1) / step * step;
}

void release_large(Shared& s, std::multimap<std::size_t, void*>::iterator it) {
  s.large_bytes -= it->first;
  std::free(it->second);
  s.large.erase(it);
}

}  // namespace

void* pool_allocate(std::size_t bytes) {
  ThreadCache& c = cache();
  if (!kPooling) return system_allocate(bytes);
  const std::size_t cls = class_of(bytes);
  if (cls >= kClasses) return system_allocate(bytes);
  FreeList& list = c.small[cls];
  if (FreeBlock* b = list.head) [[likely]] {
    list.head = b->next;
    --list.count;
    c.cached.add(-static_cast<std::int64_t>((cls + 1) * kAlign));
    return b;
  }
  void* p = refill(c, cls);
  c.cached.add(-static_cast<std::int64_t>((cls + 1) * kAlign));
  return p;
}

void pool_free(void* block, std::size_t bytes) noexcept {
  const std::size_t cls = class_of(bytes);
  if (!kPooling || cls >= kClasses) return std::free(block);
  ThreadCache& c = cache();
  FreeList& list = c.small[cls];
  auto* b = ::new (block) FreeBlock{list.head};
  list.head = b;
  c.cached.add(static_cast<std::int64_t>((cls + 1) * kAlign));
  if (++list.count >= kListMax) [[unlikely]]
    spill(c, cls);
}

Block block_allocate(std::size_t bytes) {
  ThreadCache& c = cache();
  c.allocations.add(1);
  c.storages.add(1);
  Block block{nullptr, bytes <= kSmall ? (class_of(bytes) + 1) * kAlign : round_large(bytes)};
  if (bytes <= kSmall) {
    block.data = pool_allocate(bytes);
  } else if (kPooling) {
    Shared& s = shared();
    std::lock_guard lock(s.mutex);
    const auto it = s.large.lower_bound(block.bytes);
    // A block up to a quarter larger will do; beyond that reuse would waste more than it saves.
    if (it != s.large.end() && it->first <= block.bytes + block.bytes / 4) {
      block = {it->second, it->first};
      s.large_bytes -= it->first;
      s.large.erase(it);
    }
  }
  if (!block.data) {
    block.data = std::aligned_alloc(kAlign, block.bytes);
    if (!block.data) {
      empty_cache();
      block.data = system_allocate(block.bytes);
    }
  }
  c.bytes.add(static_cast<std::int64_t>(block.bytes));
  if (c.bytes.get() > kFlushBytes) publish(c);
  return block;
}

void block_free(Block block) noexcept {
  ThreadCache& c = cache();
  c.storages.add(-1);
  c.bytes.add(-static_cast<std::int64_t>(block.bytes));
  if (c.bytes.get() < -kFlushBytes) publish(c);
  if (block.bytes <= kSmall) return pool_free(block.data, block.bytes);
  if (!kPooling) return std::free(block.data);
  Shared& s = shared();
  std::lock_guard lock(s.mutex);
  s.large.emplace(block.bytes, block.data);
  s.large_bytes += block.bytes;
  while (s.large_bytes > kCacheMax) release_large(s, std::prev(s.large.end()));
}

void count_storage(std::int64_t delta) noexcept { cache().storages.add(delta); }
void count_node(std::int64_t delta) noexcept { cache().nodes.add(delta); }

namespace {
std::int64_t sum_over_threads(Counter ThreadCache::*counter) {
  Shared& s = shared();
  std::lock_guard lock(s.mutex);
  std::int64_t total = 0;
  for (const ThreadCache* c : s.caches) total += (c->*counter).get();
  return total;
}
}  // namespace

}  // namespace detail

MemoryStats memory_stats() {
  using namespace detail;
  publish(cache());
  Shared& s = shared();
  MemoryStats stats;
  const std::int64_t ahead = sum_over_threads(&ThreadCache::bytes);
  stats.current = static_cast<std::size_t>(s.current.load() + ahead);
  stats.peak = std::max(static_cast<std::size_t>(s.peak.load()), stats.current);
  stats.allocations = sum_over_threads(&ThreadCache::allocations);
  stats.cached = static_cast<std::size_t>(std::max<std::int64_t>(0, sum_over_threads(&ThreadCache::cached)));
  std::lock_guard lock(s.mutex);
  stats.cached += s.large_bytes;
  return stats;
}

void reset_peak() {
  detail::publish(detail::cache());
  detail::shared().peak.store(detail::shared().current.load());
}

void empty_cache() {
  detail::Shared& s = detail::shared();
  std::lock_guard lock(s.mutex);
  while (!s.large.empty()) detail::release_large(s, s.large.begin());
}

std::int64_t live_storage_count() { return detail::sum_over_threads(&detail::ThreadCache::storages); }
std::int64_t live_node_count() { return detail::sum_over_threads(&detail::ThreadCache::nodes); }

}  // namespace ebb
