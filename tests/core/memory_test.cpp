// The CPU's caching allocator as programs see it.
#include <ebb/ebb.h>

#include <thread>
#include <vector>

#include "autograd/lend.h"
#include "autograd/meta.h"
#include "support/catch.h"

using ebb::Variable;

TEST_CASE("memory statistics follow allocation and freeing") {
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
TEST_CASE("a freed block is used again") {
  const void* address = nullptr;
  {
    Variable x = ebb::empty({1 << 20}, ebb::kFloat32);
    address = x.data_ptr();
  }
  Variable y = ebb::empty({1 << 20}, ebb::kFloat32);
  REQUIRE(y.data_ptr() == address);
}
#endif

// Were the free ones walked for each, this would take hours.
TEST_CASE("small tensors are made and freed as quickly when very many are free") {
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
TEST_CASE("empty_cache returns small blocks too, whichever thread freed them") {
  ebb::empty_cache();
  const std::size_t before = ebb::memory_stats().cached;
  std::vector<Variable> made;
  for (int i = 0; i < 60000; ++i) made.push_back(ebb::zeros({i % 40}));
  std::thread([&] { made.resize(30000); }).join();
  made.clear();
  made.shrink_to_fit();
  CHECK(ebb::memory_stats().cached > before + (8u << 20));
  ebb::empty_cache();
  // A slab stays while anything in it lives, such as what this test program holds.
  CHECK(ebb::memory_stats().cached < before + (1u << 20));
}

TEST_CASE("what is kept of ever larger tensors is bounded by the largest") {
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

TEST_CASE("counts are exact over threads, also those that ended") {
  const auto storages = ebb::live_storage_count();
  std::vector<Variable> made(100);
  std::thread([&] {
    for (auto& x : made) x = ebb::ones({3});
  }).join();
  REQUIRE(ebb::live_storage_count() == storages + 100);
  made.clear();
  REQUIRE(ebb::live_storage_count() == storages);
}

TEST_CASE("shapes that no memory holds are errors") {
  REQUIRE_THROWS_WITH(ebb::empty({std::int64_t{1} << 40, std::int64_t{1} << 40}),
                      support::Contains("shape [1099511627776, 1099511627776] has more elements"));
  REQUIRE_THROWS_WITH(ebb::empty({-1}),
                      support::Contains("a size is negative in shape [-1]; sizes must be at least"));
  REQUIRE_THROWS_WITH(ebb::empty({std::int64_t{1} << 50}),
                      support::Contains("out of memory: the system refused "));
}

TEST_CASE("a graph that ends while its leaf stands for another tensor leaves no pointer to it") {
  const Variable w = ebb::ones({2}).requires_grad_();
  Variable y = w * 2;
  {
    const ebb::autograd::Loan loan(w, ebb::zeros({2}));
    y = Variable();
  }
  REQUIRE(ebb::autograd::meta_or_null(w));
  CHECK(ebb::autograd::meta_or_null(w)->accumulator == nullptr);
  y = w * 3;
  { const ebb::autograd::Loan loan(w, ebb::zeros({2})); }
  CHECK(ebb::autograd::meta_or_null(w)->accumulator != nullptr);
  y.sum().backward();
  CHECK(w.grad().equal(ebb::full({2}, 3.)));
}
