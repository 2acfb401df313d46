#include <thread>

#include "autograd/semantics.h"

using namespace semantics;

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
  REQUIRE_THROWS_AS(ebb::empty({std::int64_t{1} << 40, std::int64_t{1} << 40}), ebb::Error);
  REQUIRE_THROWS_AS(ebb::empty({-1}), ebb::Error);
  REQUIRE_THROWS_AS(ebb::empty({std::int64_t{1} << 50}), ebb::Error);
}
