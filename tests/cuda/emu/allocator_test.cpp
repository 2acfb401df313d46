// The caching allocator over a source that can be told to fail, and memory that other streams use.
#include <ebb/core/error.h>

#include "cuda/async_allocator.h"
#include "cuda/caching_allocator.h"
#include "cuda/emu/runtime/state.h"
#include "cuda/pinned.h"
#include "cuda/reuse.h"
#include "cuda/runtime.h"
#include "support/catch.h"

#include <atomic>
#include <cstdlib>
#include <map>
#include <random>
#include <thread>
#include <vector>

using namespace ebb::cuda;
using support::Contains;

namespace {

// Counts calls; the calls with numbers from `failing` to `failing_until` return no memory, or fail with
// another error.
struct Fake {
  static inline std::map<void*, std::size_t> live;
  static inline int calls = 0, failing = -1, failing_until = -1;
  static inline cudaError_t error = cudaErrorMemoryAllocation, memory_error = cudaSuccess;

  static void reset() {
    calls = 0;
    error = cudaErrorMemoryAllocation;
    memory_error = cudaSuccess;
    failing = failing_until = -1;
  }
  static cudaError_t allocate(void** pointer, std::size_t bytes) {
    const int call = calls++;
    if (call >= failing && call <= failing_until) return error;
    *pointer = std::aligned_alloc(512, bytes);
    live[*pointer] = bytes;
    return cudaSuccess;
  }
  static cudaError_t free(void* pointer) {
    if (live.erase(pointer) != 1) return cudaErrorInvalidValue;
    std::free(pointer);
    return cudaSuccess;
  }
  static cudaError_t memory(std::size_t* free, std::size_t* total) {
    if (memory_error) return memory_error;
    *free = 1 << 20;
    *total = 8 << 20;
    return cudaSuccess;
  }
};

constexpr MemorySource kFake = {&Fake::allocate, &Fake::free, &Fake::memory};
cudaStream_t stream(std::uintptr_t n) { return reinterpret_cast<cudaStream_t>(n); }

}  // namespace

TEST_CASE("small allocations share a segment and freed blocks are reused") {
  Fake::reset();
  CachingAllocator allocator(kFake, ebb::Device("cuda:0"));
  MemoryBlock* const a = allocator.allocate(100, nullptr);
  MemoryBlock* const b = allocator.allocate(513, nullptr);
  CHECK(Fake::calls == 1);
  CHECK(a->bytes == 512);
  CHECK(b->bytes == 1024);
  CHECK(b->data == a->data + 512);
  char* const place = a->data;
  allocator.free(a);
  MemoryBlock* const c = allocator.allocate(300, nullptr);
  CHECK(c->data == place);
  CHECK(allocator.stats().current == 1536);
  allocator.free(b);
  allocator.free(c);
  CHECK(allocator.stats().current == 0);
  CHECK(allocator.stats().peak == 1536);
  CHECK(allocator.stats().cached == 2 << 20);
  allocator.empty_cache();
  CHECK(allocator.stats().cached == 0);
  CHECK(Fake::live.empty());
}

TEST_CASE("adjacent free blocks merge in any order of release") {
  Fake::reset();
  for (const auto& order :
       {std::array{0, 1, 2, 3}, std::array{3, 2, 1, 0}, std::array{0, 2, 1, 3}, std::array{1, 3, 0, 2}}) {
    CachingAllocator allocator(kFake, ebb::Device("cuda:0"));
    MemoryBlock* blocks[4];
    for (auto*& block : blocks) block = allocator.allocate(512 << 10, nullptr);
    for (const int i : order) allocator.free(blocks[i]);
    MemoryBlock* const whole = allocator.allocate(1 << 20, nullptr);
    CHECK(allocator.stats().cached == 1 << 20);  // of the one segment
    allocator.free(whole);
    allocator.empty_cache();
  }
  CHECK(Fake::live.empty());
}

TEST_CASE("a freed block is reused only on its own stream") {
  Fake::reset();
  CachingAllocator allocator(kFake, ebb::Device("cuda:0"));
  MemoryBlock* const a = allocator.allocate(4 << 20, stream(1));
  char* const place = a->data;
  allocator.free(a);
  MemoryBlock* const other = allocator.allocate(4 << 20, stream(2));
  CHECK(other->data != place);
  MemoryBlock* const same = allocator.allocate(4 << 20, stream(1));
  CHECK(same->data == place);
  allocator.free(other);
  allocator.free(same);
  allocator.empty_cache();
}

TEST_CASE("free segments are returned to a full device before an allocation fails") {
  Fake::reset();
  CachingAllocator allocator(kFake, ebb::Device("cuda:3"));
  MemoryBlock* const kept = allocator.allocate(30 << 20, nullptr);
  MemoryBlock* const freed = allocator.allocate(40 << 20, nullptr);
  allocator.free(freed);
  Fake::failing = Fake::failing_until = Fake::calls;  // once: the second attempt succeeds
  MemoryBlock* const big = allocator.allocate(100 << 20, nullptr);
  CHECK(allocator.stats().cached == 0);
  CHECK(Fake::live.size() == 2);
  Fake::failing = Fake::calls;
  Fake::failing_until = Fake::failing + 1;
  CHECK_THROWS_WITH(allocator.allocate(50 << 20, nullptr), Contains("out of memory on cuda:3") &&
                                                               Contains("50") && Contains("130") &&
                                                               Contains("8 MiB"));
  MemoryBlock* const later = allocator.allocate(50 << 20, nullptr);
  for (MemoryBlock* block : {kept, big, later}) allocator.free(block);
  allocator.empty_cache();
  CHECK(Fake::live.empty());
}

TEST_CASE("an allocation error other than out of memory is reported and frees no segment") {
  Fake::reset();
  CachingAllocator allocator(kFake, ebb::Device("cuda:0"));
  MemoryBlock* const freed = allocator.allocate(40 << 20, nullptr);
  allocator.free(freed);
  Fake::error = cudaErrorIllegalState;
  Fake::failing = Fake::failing_until = Fake::calls;
  const int calls = Fake::calls;
  CHECK_THROWS_WITH(allocator.allocate(100 << 20, nullptr), Contains("cudaMalloc failed") &&
                                                                Contains("cudaErrorIllegalState") &&
                                                                !Contains("out of memory"));
  CHECK(Fake::calls == calls + 1);
  CHECK(allocator.stats().cached == 40 << 20);
  // The device is broken when its memory is queried.
  Fake::error = cudaErrorMemoryAllocation;
  Fake::memory_error = cudaErrorUnknown;
  Fake::failing = Fake::calls;
  Fake::failing_until = Fake::failing + 1;
  CHECK_THROWS_WITH(allocator.allocate(100 << 20, nullptr), Contains("cudaMemGetInfo failed") &&
                                                                Contains("cudaErrorUnknown") &&
                                                                !Contains("out of memory"));
  allocator.empty_cache();
  CHECK(Fake::live.empty());
}

TEST_CASE("blocks in use never overlap if any driver call fails") {
  for (int fails = 0; fails < 12; ++fails) {
    Fake::reset();
    Fake::failing = Fake::failing_until = fails;
    CachingAllocator allocator(kFake, ebb::Device("cuda:0"));
    std::mt19937 random(fails);
    std::map<char*, MemoryBlock*> used;
    for (int step = 0; step < 2000; ++step) {
      if (random() % 2 || used.empty()) {
        const std::size_t bytes = std::size_t{1} << (random() % 24);
        MemoryBlock* const block = allocator.allocate(bytes, stream(random() % 3));
        REQUIRE(block->bytes >= bytes);
        const auto next = used.lower_bound(block->data);
        if (next != used.end()) REQUIRE(block->data + block->bytes <= next->first);
        if (next != used.begin())
          REQUIRE(std::prev(next)->first + std::prev(next)->second->bytes <= block->data);
        used.emplace(block->data, block);
      } else {
        const auto victim = std::next(used.begin(), static_cast<std::ptrdiff_t>(random() % used.size()));
        allocator.free(victim->second);
        used.erase(victim);
      }
    }
    for (const auto& [place, block] : used) allocator.free(block);
    allocator.empty_cache();
    CHECK(allocator.stats().current == 0);
    CHECK(allocator.stats().cached == 0);
    CHECK(Fake::live.empty());
  }
}

// Memory in use by other streams: recording the uses, and the number of event queries.

using namespace ebb;

namespace {

const Device kFirst("cuda:0");
constexpr MemorySource kSource = {[](void** p, std::size_t n) { return cudaMalloc(p, n); },
                                  [](void* p) { return cudaFree(p); },
                                  [](std::size_t* f, std::size_t* t) { return cudaMemGetInfo(f, t); }};

struct OwnStream {
  cudaStream_t handle = nullptr;
  OwnStream() { cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking); }
  ~OwnStream() { cudaStreamDestroy(handle); }
  StreamUse use() const { return {kFirst, handle}; }
  // Before the end of the capture, the runtime cannot tell whether the stream has passed a mark.
  void hold() const { cudaStreamBeginCapture(handle, cudaStreamCaptureModeRelaxed); }
  void let_go() const {
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(handle, &graph);
    cudaGraphDestroy(graph);
  }
};

// The number of event queries during a call.
template <class F>
long queries(const F& call) {
  const long before = emu::event_queries();
  call();
  return emu::event_queries() - before;
}

// Queues work that, with lazy streams, is not done before `steps` queries.
void keep_busy(const OwnStream& stream, int steps) {
  for (int i = 0; i < steps; ++i) emu::enqueue_action(stream.handle, [] {});
}

constexpr std::size_t kThreads = 8, kStreamsOfEach = 64;

// Streams without work.
struct Streams {
  std::vector<cudaStream_t> handles = std::vector<cudaStream_t>(kThreads * kStreamsOfEach);
  Streams() {
    for (cudaStream_t& handle : handles) cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking);
  }
  ~Streams() {
    for (const cudaStream_t handle : handles) cudaStreamDestroy(handle);
  }
};

// Calls record(use) for each stream: each thread twice for its own streams.
template <class F>
void record_all(const Streams& streams, const F& record) {
  std::atomic<bool> go{false};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < kThreads; ++t)
    threads.emplace_back([&, t] {
      while (!go) std::this_thread::yield();
      for (std::size_t i = 0; i < 2 * kStreamsOfEach; ++i)
        record(StreamUse{kFirst, streams.handles[t * kStreamsOfEach + i % kStreamsOfEach]});
    });
  go = true;
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("blocks are reused as soon as all streams that used them are done", "[waiting]") {
  const OwnStream a, b;
  WaitingBlocks<int> waiting;
  int of_a = 1, of_both = 2, of_b = 3;
  std::vector<int> done;
  const auto note = [&](const int* block) { done.push_back(*block); };
  b.hold();
  waiting.add(&of_a, {a.use()});
  waiting.add(&of_both, {a.use(), b.use()});
  waiting.add(&of_b, {b.use()});
  waiting.collect(true, note);
  CHECK(done == std::vector{1});
  CHECK_FALSE(waiting.empty());
  b.let_go();
  waiting.collect(true, note);
  CHECK(done == std::vector{1, 2, 3});
  CHECK(waiting.empty());
}

TEST_CASE("events after a pending event of the same stream are not queried", "[waiting]") {
  const OwnStream a, b;
  WaitingBlocks<int> waiting;
  std::vector<int> blocks(400);
  int freed = 0;
  const auto count = [&](int*) { ++freed; };
  keep_busy(a, 500);
  for (int& block : blocks) waiting.add(&block, {a.use(), b.use()});
  const bool lazy = !waiting.empty() && std::getenv("EBB_EMU_LAZY");
  if (lazy) {  // a is not done: one query for it, and one for each mark that b passes
    CHECK(queries([&] { waiting.collect(false, count); }) <= 1 + 400);
    for (int i = 0; i < 10; ++i) CHECK(queries([&] { waiting.collect(false, count); }) <= 2);
    CHECK(freed == 0);
  }
  waiting.collect(true, count);
  CHECK(freed == 400);
}

TEST_CASE("an allocation queries one event per stream for any number of waiting blocks", "[waiting]") {
  if (!std::getenv("EBB_EMU_LAZY")) return;  // a stream is done before it is queried
  const OwnStream side;
  keep_busy(side, 900);
  CachingAllocator allocator(kSource, kFirst);
  PinnedPool pinned;
  for (int i = 0; i < 20; ++i) {
    MemoryBlock* const block = allocator.allocate(4096, nullptr);
    PinnedBlock* const page = pinned.allocate(4096);
    allocator.record_use(block, side.use());
    pinned.record_use(page, side.use());
    allocator.free(block);
    pinned.free(page);
  }
  std::vector<MemoryBlock*> blocks;
  std::vector<PinnedBlock*> pages;
  for (int i = 0; i < 10; ++i) {
    CHECK(queries([&] { blocks.push_back(allocator.allocate(4096, nullptr)); }) == 1);
    CHECK(queries([&] { pages.push_back(pinned.allocate(4096)); }) == 1);
  }
  for (MemoryBlock* block : blocks) allocator.free(block);
  for (PinnedBlock* page : pages) pinned.free(page);
  allocator.empty_cache();
  pinned.empty_cache();
}

TEST_CASE("threads may record uses of one block concurrently") {
  const Streams streams;
  CachingAllocator caching(kSource, kFirst);
  AsyncAllocator async(kFirst);
  PinnedPool pinned;
  for (int repeat = 0; repeat < 20; ++repeat) {
    MemoryBlock* const block = caching.allocate(4096, nullptr);
    MemoryBlock* const piece = async.allocate(4096, nullptr);
    PinnedBlock* const page = pinned.allocate(4096);
    record_all(streams, [&](const StreamUse& use) {
      caching.record_use(block, use);
      async.record_use(piece, use);
      pinned.record_use(page, use);
    });
    REQUIRE(block->uses.size() == streams.handles.size());
    REQUIRE(piece->uses.size() == streams.handles.size());
    REQUIRE(page->uses.size() == streams.handles.size());
    caching.free(block);
    async.free(piece);
    pinned.free(page);
  }
  wait_for_device(kFirst);
  caching.empty_cache();
  async.empty_cache();
  pinned.empty_cache();
}
