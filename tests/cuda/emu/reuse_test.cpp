// Memory that other streams use: who records that, and how often the runtime is asked whether they are done.
#include "cuda/reuse.h"

#include <atomic>
#include <cstdlib>
#include <thread>
#include <vector>

#include "cuda/async_allocator.h"
#include "cuda/emu/runtime/state.h"
#include "cuda/pinned.h"
#include "cuda/runtime.h"
#include "cuda/streams.h"
#include "support/catch.h"

using namespace ebb;
using namespace ebb::cuda;

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
  // Until the capture ends nothing tells whether the stream is past a mark.
  void hold() const { cudaStreamBeginCapture(handle, cudaStreamCaptureModeRelaxed); }
  void let_go() const {
    cudaGraph_t graph = nullptr;
    cudaStreamEndCapture(handle, &graph);
    cudaGraphDestroy(graph);
  }
};

// How many events were asked for by a call.
template <class F>
long queries(const F& call) {
  const long before = emu::event_queries();
  call();
  return emu::event_queries() - before;
}

// Fills a stream with work that, where streams are lazy, is not done for `steps` questions.
void keep_busy(const OwnStream& stream, int steps) {
  for (int i = 0; i < steps; ++i) emu::enqueue_action(stream.handle, [] {});
}

constexpr std::size_t kThreads = 8, kStreamsOfEach = 64;

// Streams that nothing is done with.
struct Streams {
  std::vector<cudaStream_t> handles = std::vector<cudaStream_t>(kThreads * kStreamsOfEach);
  Streams() {
    for (cudaStream_t& handle : handles) cudaStreamCreateWithFlags(&handle, cudaStreamNonBlocking);
  }
  ~Streams() {
    for (const cudaStream_t handle : handles) cudaStreamDestroy(handle);
  }
};

// Calls record(use) for every stream, each thread for its own ones and twice.
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

TEST_CASE("blocks come back as soon as every stream that used them is past", "[waiting]") {
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

TEST_CASE("what waits behind one event is not asked after", "[waiting]") {
  const OwnStream a, b;
  WaitingBlocks<int> waiting;
  std::vector<int> blocks(400);
  int freed = 0;
  const auto count = [&](int*) { ++freed; };
  keep_busy(a, 500);
  for (int& block : blocks) waiting.add(&block, {a.use(), b.use()});
  const bool lazy = !waiting.empty() && std::getenv("EBB_EMU_LAZY");
  if (lazy) {  // a is not done: one question for it, and one for each of the marks that b passes
    CHECK(queries([&] { waiting.collect(false, count); }) <= 1 + 400);
    for (int i = 0; i < 10; ++i) CHECK(queries([&] { waiting.collect(false, count); }) <= 2);
    CHECK(freed == 0);
  }
  waiting.collect(true, count);
  CHECK(freed == 400);
}

TEST_CASE("an allocation asks after one event a stream, however many blocks wait", "[waiting]") {
  if (!std::getenv("EBB_EMU_LAZY")) return;  // a stream is done before anybody asks
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

TEST_CASE("threads record uses of one block at once") {
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
