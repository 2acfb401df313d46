// The caching allocator of the CPU: its public interface and its parts.
#include <ebb/ebb.h>

#include "autograd/meta.h"
#include "autograd/swap_tensor.h"
#include "core/block_caches.h"
#include "core/system.h"
#include "support/catch.h"

#include <cstring>
#include <set>
#include <thread>
#include <vector>

// The public interface of the caching allocator of the CPU.

using ebb::Variable;

TEST_CASE("memory_stats counts allocations and frees") {
  ebb::empty_cache();
  const auto before = ebb::memory_stats();
  ebb::reset_peak();
  constexpr std::size_t kBytes = 8u << 20;
  {
    Variable x = ebb::empty({static_cast<std::int64_t>(kBytes / 8)}, ebb::kFloat64);
    const auto during = ebb::memory_stats();
    CHECK(during.current >= before.current + kBytes);
    CHECK(during.current <= before.current + kBytes + kBytes / 4);
    CHECK(during.peak >= during.current);
    CHECK(during.allocations > before.allocations);
  }
  const auto after = ebb::memory_stats();
  CHECK(after.current == before.current);
  CHECK(after.peak >= before.current + kBytes);
#if !defined(__SANITIZE_ADDRESS__)
  CHECK(after.cached >= before.cached + kBytes);
#endif
  ebb::empty_cache();
  CHECK(ebb::memory_stats().cached < before.cached + kBytes);
  ebb::reset_peak();
  CHECK(ebb::memory_stats().peak < before.current + kBytes);
}

#if !defined(__SANITIZE_ADDRESS__)
TEST_CASE("a freed block is reused") {
  const void* address = nullptr;
  {
    Variable x = ebb::empty({1 << 20}, ebb::kFloat32);
    address = x.data_ptr();
  }
  Variable y = ebb::empty({1 << 20}, ebb::kFloat32);
  REQUIRE(y.data_ptr() == address);
}
#endif

// An allocation that iterated over all free blocks would take hours here.
TEST_CASE("allocation of small tensors is fast with very many free blocks") {
  constexpr int kMany = 300'000;
  {
    std::vector<Variable> many;
    for (int i = 0; i < kMany; ++i) many.push_back(ebb::empty({1}, ebb::kFloat32));
  }
  std::vector<Variable> kept;
  for (int i = 0; i < kMany; ++i) {
    kept.push_back(ebb::empty({1}, ebb::kFloat32));
    const Variable passing = ebb::empty({1}, ebb::kFloat32);
  }
  REQUIRE(kept.size() == kMany);
}

#if !defined(__SANITIZE_ADDRESS__)
TEST_CASE("empty_cache returns small blocks that any thread freed") {
  ebb::empty_cache();
  const std::size_t before = ebb::memory_stats().cached;
  std::vector<Variable> made;
  for (int i = 0; i < 60000; ++i) made.push_back(ebb::zeros({i % 40}));
  std::thread([&] { made.resize(30000); }).join();
  made.clear();
  made.shrink_to_fit();
  CHECK(ebb::memory_stats().cached > before + (8u << 20));
  ebb::empty_cache();
  // A slab stays as long as it contains a live block, for example one of this test program.
  CHECK(ebb::memory_stats().cached < before + (1u << 20));
}

TEST_CASE("used and cached memory of growing tensors is at most about twice the largest tensor") {
  ebb::empty_cache();
  std::size_t most = 0;
  const std::int64_t largest = 400 * 20000;
  const std::size_t before = ebb::memory_stats().current;
  for (std::int64_t n = 20000; n <= largest; n += 20000) {
    const Variable x = ebb::empty({n});
    const auto stats = ebb::memory_stats();
    most = std::max(most, stats.current + stats.cached - before);
  }
  CHECK(most <= std::size_t{2} * largest * sizeof(float) + (32u << 20));
}
#endif

TEST_CASE("live_storage_count is exact across running and ended threads") {
  const auto storages = ebb::live_storage_count();
  std::vector<Variable> made(100);
  std::thread([&] {
    for (auto& x : made) x = ebb::ones({3});
  }).join();
  REQUIRE(ebb::live_storage_count() == storages + 100);
  made.clear();
  REQUIRE(ebb::live_storage_count() == storages);
}

TEST_CASE("shapes with too many elements or a negative size throw") {
  REQUIRE_THROWS_WITH(ebb::empty({std::int64_t{1} << 40, std::int64_t{1} << 40}),
                      support::Contains("shape [1099511627776, 1099511627776] has more elements"));
  REQUIRE_THROWS_WITH(ebb::empty({-1}),
                      support::Contains("a size is negative in shape [-1]; sizes must be at least"));
  REQUIRE_THROWS_WITH(ebb::empty({std::int64_t{1} << 50}),
                      support::Contains("out of memory: the system refused "));
}

TEST_CASE("a graph that is freed during a ScopedSwap of its leaf leaves no dangling gradient accumulator") {
  const Variable w = ebb::ones({2}).requires_grad_();
  Variable y = w * 2;
  {
    const ebb::autograd::ScopedSwap swap(w, ebb::zeros({2}));
    y = Variable();
  }
  REQUIRE(ebb::autograd::meta_or_null(w));
  CHECK(ebb::autograd::meta_or_null(w)->accumulator == nullptr);
  y = w * 3;
  {
    const ebb::autograd::ScopedSwap swap(w, ebb::zeros({2}));
  }
  CHECK(ebb::autograd::meta_or_null(w)->accumulator != nullptr);
  y.sum().backward();
  CHECK(w.grad().equal(ebb::full({2}, 3.)));
}

// The parts of the allocator: batches and slabs, large blocks, and the recent peak.

using namespace ebb::detail;

namespace {

constexpr std::size_t kMiB = std::size_t{1} << 20;

// The per-thread part of the allocator without its batches: takes blocks of a size class from a slab, and
// returns them in batches.
struct Carver {
  SmallBlocks& depot;
  OpenSlab slab;

  void* carve(std::size_t cls) {
    const std::size_t bytes = class_bytes(cls);
    if (slab.left < bytes) REQUIRE(depot.open(slab));
    slab.left -= bytes;
    return std::exchange(slab.next, slab.next + bytes);
  }
  // Returns the bytes of the blocks that the depot returned to the system meanwhile.
  std::size_t put(std::size_t cls, const std::vector<void*>& blocks) {
    const std::size_t all = depot.bytes() + blocks.size() * class_bytes(cls);
    Batch batch;
    for (void* block : blocks) {
      batch.push(block);
      if (batch.count.get() == kBatch[cls]) depot.put(cls, std::exchange(batch, {}));
    }
    if (batch.head) depot.put(cls, batch);
    return all - depot.bytes();
  }
};

// Returns the bytes of the blocks that the depot returns to the system.
std::size_t trimmed(SmallBlocks& depot) {
  const std::size_t before = depot.bytes();
  depot.trim();
  return before - depot.bytes();
}

}  // namespace

TEST_CASE("freed small blocks are taken in batches") {
  SmallBlocks depot;
  Carver carver{depot, {}};
  std::vector<void*> blocks;
  for (int i = 0; i < 10000; ++i) blocks.push_back(carver.carve(3));
  REQUIRE(std::set<void*>(blocks.begin(), blocks.end()).size() == blocks.size());
  carver.put(3, blocks);

  std::set<void*> seen;
  std::size_t taken = 0;
  for (Batch batch; (batch = depot.take(3)).head;) {
    CHECK(batch.count.get() <= kBatch[3]);
    for (; batch.head; ++taken) seen.insert(batch.pop());
    CHECK(batch.count.get() == 0);
  }
  CHECK(taken == blocks.size());
  CHECK(seen == std::set<void*>(blocks.begin(), blocks.end()));
  CHECK(depot.take(2).head == nullptr);
  depot.close(carver.slab);
  carver.put(3, blocks);
  CHECK(trimmed(depot) == blocks.size() * class_bytes(3));
}

TEST_CASE("trim returns only slabs whose blocks are all free") {
  SmallBlocks depot;
  Carver carver{depot, {}};
  const std::size_t a = class_of(64), b = class_of(2000);
  std::vector<void*> small, wide;
  for (int i = 0; i < 20000; ++i) small.push_back(carver.carve(a));
  for (int i = 0; i < 1000; ++i) wide.push_back(carver.carve(b));
  void* kept = small.front();
  std::memset(kept, 7, 64);
  small.erase(small.begin());

  carver.put(a, small);
  carver.put(b, wide);
  depot.close(carver.slab);
  const std::size_t all = small.size() * 64 + wide.size() * class_bytes(b);
  const std::size_t gone = trimmed(depot);
  CHECK(gone >= all - kSlabBytes);
  CHECK(gone < all);
  CHECK(trimmed(depot) == 0);
  for (int i = 0; i < 64; ++i) REQUIRE(static_cast<char*>(kept)[i] == 7);

  // The other blocks are taken again, and then all blocks are freed.
  std::vector<void*> again;
  for (Batch batch; (batch = depot.take(a)).head;)
    while (batch.head) again.push_back(batch.pop());
  CHECK(again.size() * 64 == all - gone);
  again.push_back(kept);
  carver.put(a, again);
  CHECK(trimmed(depot) == again.size() * 64);
  CHECK(depot.take(a).head == nullptr);
}

TEST_CASE("the next thread continues to allocate from the slab of an ended thread") {
  SmallBlocks depot;
  Carver first{depot, {}}, second{depot, {}};
  char* block = static_cast<char*>(first.carve(0));
  depot.close(first.slab);
  CHECK(first.slab.next == nullptr);
  CHECK(static_cast<char*>(second.carve(0)) == block + kAlign);
  second.put(0, {block, block + kAlign});
  CHECK(trimmed(depot) == 0);  // a thread still uses it
  depot.close(second.slab);
  CHECK(trimmed(depot) == 2 * kAlign);
}

TEST_CASE("slabs that are unused for long are trimmed automatically") {
  SmallBlocks depot;
  Carver carver{depot, {}};
  const std::size_t cls = class_of(2048);
  std::vector<void*> blocks;
  for (std::size_t bytes = 0; bytes < 128 * kMiB; bytes += 2048) blocks.push_back(carver.carve(cls));
  CHECK(carver.put(cls, blocks) == 0);  // was used recently
  std::size_t gone = 0;
  for (std::size_t bytes = 0; bytes < 4096 * kMiB && !gone; bytes += 16 * kMiB) {
    std::vector<void*> few;
    while (few.size() * 2048 < 16 * kMiB)
      for (Batch batch = depot.take(cls); batch.head;) few.push_back(batch.pop());
    gone = carver.put(cls, few);
  }
  CHECK(gone > 64 * kMiB);
  depot.close(carver.slab);
  depot.trim();
}

TEST_CASE("RecentPeak stays at the peak of a repeated step and drops when later steps use less") {
  RecentPeak peak;
  for (int step = 0; step < 100; ++step) {
    peak.handed_out(60, 60);
    peak.handed_out(40, 100);
    CHECK(peak.get() >= 100);
  }
  for (int step = 0; step < 400; ++step) peak.handed_out(10, 10);
  CHECK(peak.get() == 10);
}

TEST_CASE("a cached large block is reused for requests down to four fifths of its size") {
  LargeBlocks large;
  for (const std::size_t bytes : {2049ul, 4000ul, 5000ul, 100000ul, 3 * kMiB, 40 * kMiB + 1}) {
    CAPTURE(bytes);
    const std::size_t rounded = LargeBlocks::round(bytes);
    CHECK(rounded >= bytes);
    CHECK(rounded <= bytes + std::max<std::size_t>(bytes / 8, 512));
    const Block block = large.take(rounded);
    REQUIRE(block.data);
    CHECK(block.bytes == rounded);
    std::memset(block.data, 1, block.bytes);
    large.put(block);
    CHECK(large.bytes() == rounded);
    const Block larger = large.take(LargeBlocks::round(rounded + rounded / 3));
    CHECK(larger.data != block.data);
    const Block same = large.take(LargeBlocks::round(rounded - rounded / 6));
    CHECK(same.data == block.data);
    CHECK(same.bytes == rounded);
    large.put(same);
    large.put(larger);
    large.release();
    CHECK(large.bytes() == 0);
  }
}

TEST_CASE("the recent peak of use limits the cached large blocks, and the oldest blocks are evicted first") {
  LargeBlocks large;
  const std::size_t largest = 100 * kMiB;
  std::size_t most = 0;
  for (std::size_t bytes = kMiB; bytes <= largest; bytes += kMiB / 2) {
    const Block block = large.take(LargeBlocks::round(bytes));
    REQUIRE(block.data);
    most = std::max(most, large.bytes() + block.bytes);
    large.put(block);
  }
  CHECK(most <= largest + largest / 8 * 5 + 32 * kMiB);  // an eighth by rounding, half and 32 MiB by the rule
  for (int i = 0; i < 2000; ++i) large.put(large.take(kMiB));
  CHECK(large.bytes() <= 34 * kMiB);

  // The oldest block is evicted first: the most recently used one is still cached.
  const Block hot = large.take(kMiB);
  large.put(hot);
  CHECK(large.take(kMiB).data == hot.data);
  large.put(hot);
  large.release();
}

TEST_CASE("a failed allocation of a large block leaves the cache usable") {
  LargeBlocks large;
  const Block block = large.take(LargeBlocks::round(5 * kMiB));
  large.put(block);
  CHECK(large.take(std::size_t{1} << 50).data == nullptr);
  const Block after = large.take(LargeBlocks::round(6 * kMiB));
  REQUIRE(after.data);
  large.put(after);
  CHECK(large.bytes() <= 48 * kMiB);
  large.release();
}

TEST_CASE("mapped pages are aligned and zero, and memory_limit returns a plausible size") {
  for (const std::size_t alignment : {kPage, kSlabBytes, kHugePage}) {
    char* pages = static_cast<char*>(map_pages(kSlabBytes, alignment));
    REQUIRE(pages);
    CHECK(reinterpret_cast<std::uintptr_t>(pages) % alignment == 0);
    CHECK((pages[0] == 0 && pages[kSlabBytes - 1] == 0));
    pages[kSlabBytes - 1] = 1;
    unmap_pages(pages, kSlabBytes);
  }
  CHECK(map_pages(std::size_t{1} << 60) == nullptr);
  CHECK(memory_limit() > 16 * kMiB);
}
