// The CPU's caching allocator. Each thread has its own free lists of small blocks, so the usual allocation
// takes no lock. Surplus blocks move to the shared depot and large blocks to the cache of large blocks
// (block_caches.h).
#include "core/allocator.h"

#include <ebb/core/allocator.h>
#include <ebb/core/error.h>

#include "core/block_caches.h"
#include "core/fork.h"

#include <malloc.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <utility>
#include <vector>

namespace ebb {
namespace detail {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kPooling = false;  // AddressSanitizer checks only blocks that malloc returns
#else
constexpr bool kPooling = true;
#endif

constexpr std::int64_t kFlushBytes = 1 << 16;  // a thread publishes a byte count of greater magnitude

// The free lists of one thread. They contain at most two batches of each class. Alternating allocations and
// frees therefore exchange memory with the depot at most once per batch.
struct ThreadCache {
  Batch blocks[kClasses];
  Batch spare[kClasses];  // a full batch, or empty
  OpenSlab slab;
  Counter bytes, allocations, storages, nodes;
};

struct Shared {
  SmallBlocks small;
  LargeBlocks large;
  HeldAtFork mutex;                  // protects the two lists
  std::vector<ThreadCache*> caches;  // the caches of all threads that ever allocated
  std::vector<ThreadCache*> idle;    // the caches of threads that have ended, for reuse
  std::atomic<std::int64_t> current{0};
  std::atomic<std::int64_t> peak{0};

  void add_cache() {
    idle.reserve(caches.size() + 1);  // a thread that ends must not allocate
    caches.reserve(caches.size() + 1);
    idle.push_back(new ThreadCache);
    caches.push_back(idle.back());
  }
};

// The object is never destroyed, because tensors in static variables may be freed after all other destructors
// have run.
Shared& shared() {
  static Shared& made = *new Shared;
  return made;
}

constinit thread_local ThreadCache* cache_of_thread [[gnu::tls_model("initial-exec")]] = nullptr;

void publish(ThreadCache& cache) {
  const std::int64_t delta = std::exchange(cache.bytes, 0).get();
  Shared& s = shared();
  const std::int64_t now = s.current.fetch_add(delta, std::memory_order_relaxed) + delta;
  std::int64_t peak = s.peak.load(std::memory_order_relaxed);
  while (now > peak && !s.peak.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
}

void put(std::size_t cls, Batch& batch) {
  if (batch.head) shared().small.put(cls, std::exchange(batch, {}));
}

// Moves all cached blocks of a thread to the depot.
void flush(ThreadCache& cache) {
  for (std::size_t cls = 0; cls < kClasses; ++cls) {
    put(cls, cache.blocks[cls]);
    put(cls, cache.spare[cls]);
  }
  shared().small.close(cache.slab);
}

// Flushes the thread's cache when the thread ends, and makes the cache available to the next new thread.
struct ThreadGuard {
  ~ThreadGuard() {
    if (!cache_of_thread) return;
    publish(*cache_of_thread);
    flush(*cache_of_thread);
    std::lock_guard lock(shared().mutex);
    shared().idle.push_back(cache_of_thread);
    cache_of_thread = nullptr;
  }
};

[[gnu::noinline]] ThreadCache& attach_thread() {
  {
    Shared& s = shared();
    std::lock_guard lock(s.mutex);
    if (s.idle.empty()) s.add_cache();
    cache_of_thread = s.idle.back();
    s.idle.pop_back();
    // Keeps one idle cache in reserve. A thread that starts when no memory is left can then still free
    // blocks, because freeing needs a cache.
    if (s.idle.empty()) try {
        s.add_cache();
      } catch (const std::bad_alloc&) {
      }
  }
  static thread_local ThreadGuard guard;
  (void)guard;
  return *cache_of_thread;
}

inline ThreadCache& cache() { return cache_of_thread ? *cache_of_thread : attach_thread(); }

// Returns a block of the thread's spare batch, of a batch from the depot, or of the thread's slab. Returns
// null if there is no memory.
[[gnu::noinline]] void* refill(ThreadCache& c, std::size_t cls) {
  Batch& blocks = c.blocks[cls];
  blocks = c.spare[cls].head ? std::exchange(c.spare[cls], {}) : shared().small.take(cls);
  if (blocks.head) return blocks.pop();
  const std::size_t bytes = class_bytes(cls);
  if (c.slab.left < bytes && !shared().small.open(c.slab)) return nullptr;
  void* p = std::exchange(c.slab.next, c.slab.next + bytes);
  c.slab.left -= bytes;
  return p;
}

// Moves the thread's full batch to `spare`, and the previous spare batch to the depot, from which other
// threads can take it.
[[gnu::noinline]] void spill(ThreadCache& c, std::size_t cls) {
  put(cls, c.spare[cls]);
  c.spare[cls] = std::exchange(c.blocks[cls], {});
}

[[noreturn]] void refuse(std::size_t bytes) {
  fail<MemoryRefused>("out of memory: the system refused ", std::uint64_t{bytes},
                      " bytes. Use smaller tensors or free some.");
}

void* system_allocate(std::size_t bytes) {
  void* p = std::aligned_alloc(kAlign, (bytes + kAlign - 1) / kAlign * kAlign);
  if (!p) refuse(bytes);
  return p;
}

}  // namespace

MemoryRefused::~MemoryRefused() = default;

void memory_refused(const char* op) {
  try {
    throw;
  } catch (const MemoryRefused& error) {
    fail(op, ": ", error.what());
  } catch (const std::bad_alloc&) {
    fail(op,
         ": out of memory: the system refused memory for the op's temporaries. Use smaller tensors or free "
         "some.");
  }
}

namespace {

inline void* take_small(ThreadCache& c, std::size_t cls) {
  Batch& blocks = c.blocks[cls];
  if (blocks.head) [[likely]]
    return blocks.pop();
  if (void* const p = refill(c, cls)) return p;
  empty_cache();
  if (void* const p = refill(c, cls)) return p;
  refuse(class_bytes(cls));
}

inline void put_small(ThreadCache& c, std::size_t cls, void* block) {
  Batch& blocks = c.blocks[cls];
  blocks.push(block);
  if (blocks.count.get() >= kBatch[cls]) [[unlikely]]
    spill(c, cls);
}

}  // namespace

void* pool_allocate(std::size_t bytes) {
  const std::size_t cls = class_of(bytes);
  return kPooling && cls < kClasses ? take_small(cache(), cls) : system_allocate(bytes);
}

void pool_free(void* block, std::size_t bytes) noexcept {
  const std::size_t cls = class_of(bytes);
  if (!kPooling || cls >= kClasses) return std::free(block);
  put_small(cache(), cls, block);
}

Block block_allocate(std::size_t bytes) {
  ThreadCache& c = cache();
  Block block{nullptr, bytes <= kSmall ? class_bytes(class_of(bytes)) : LargeBlocks::round(bytes)};
  if (kPooling && bytes <= kSmall)
    block.data = take_small(c, class_of(bytes));
  else if (kPooling)
    block = shared().large.take(block.bytes);
  else
    block.data = system_allocate(block.bytes);
  if (!block.data) {
    empty_cache();
    block = shared().large.take(block.bytes);
    if (!block.data) refuse(bytes);
  }
  c.allocations.add(1);
  c.storages.add(1);
  c.bytes.add(static_cast<std::int64_t>(block.bytes));
  if (c.bytes.get() > kFlushBytes) publish(c);
  return block;
}

void block_free(Block block) noexcept {
  ThreadCache& c = cache();
  c.storages.add(-1);
  c.bytes.add(-static_cast<std::int64_t>(block.bytes));
  if (c.bytes.get() < -kFlushBytes) publish(c);
  if (!kPooling) return std::free(block.data);
  if (block.bytes <= kSmall) return put_small(c, class_of(block.bytes), block.data);
  shared().large.put(block);
}

void count_storage(std::int64_t delta) noexcept { cache().storages.add(delta); }
void count_node(std::int64_t delta) noexcept { cache().nodes.add(delta); }

namespace {
std::int64_t sum_over_threads(Counter ThreadCache::* counter) {
  Shared& s = shared();
  std::lock_guard lock(s.mutex);
  std::int64_t total = 0;
  for (const ThreadCache* c : s.caches) total += (c->*counter).get();
  return total;
}

// Returns the number of bytes of the free small blocks of all threads and of the depot.
std::size_t free_small_bytes() {
  Shared& s = shared();
  std::size_t total = s.small.bytes();
  std::lock_guard lock(s.mutex);
  for (const ThreadCache* c : s.caches)
    for (std::size_t cls = 0; cls < kClasses; ++cls)
      total += c->blocks[cls].bytes(cls) + c->spare[cls].bytes(cls);
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
  stats.cached = free_small_bytes() + s.large.bytes();
  return stats;
}

void reset_peak() {
  detail::publish(detail::cache());
  detail::shared().peak.store(detail::shared().current.load());
}

void empty_cache() {
  using namespace detail;
  Shared& s = shared();
  flush(cache());
  s.small.trim();
  s.large.release();
#if defined(__GLIBC__)
  ::malloc_trim(0);  // large blocks below the mapping threshold are allocated with malloc
#endif
}

std::int64_t live_storage_count() { return detail::sum_over_threads(&detail::ThreadCache::storages); }
std::int64_t live_node_count() { return detail::sum_over_threads(&detail::ThreadCache::nodes); }

}  // namespace ebb
