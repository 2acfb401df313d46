// The caching allocator over a source that can be told to fail.
#include "cuda/caching_allocator.h"
#include "support/catch.h"

#include <ebb/core/error.h>

#include <cstdlib>
#include <map>
#include <random>

using namespace ebb::cuda;
using support::Contains;

namespace {

// Counts calls; the call with the number `failing` and those up to `failing_until` give no memory, or fail by
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

TEST_CASE("small requests share a segment, and what is freed is used again") {
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

TEST_CASE("neighbours that are free join in any order") {
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

TEST_CASE("a freed block serves its own stream only") {
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

TEST_CASE("a device that is full gets its free segments back before the request fails") {
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

TEST_CASE("what fails for another reason than want of memory says so, and gives nothing back") {
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
  // A device that has broken by the time that its memory is asked for.
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

TEST_CASE("blocks in use never overlap, whichever call fails") {
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
