// Parts of the CUDA backend that run without a device: has_kernels_for, LruCache and OnceCache.
#include "cuda/architectures.h"
#include "cuda/nvidia/lru_cache.h"
#include "support/catch.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

using ebb::LruCache;
using ebb::OnceCache;
using ebb::cuda::has_kernels_for;

// has_kernels_for: the GPUs for which a plugin has kernels.

TEST_CASE("has_kernels_for tells which GPUs a list of architectures supports") {
  CHECK(has_kernels_for("90-real", 9, 0));
  CHECK_FALSE(has_kernels_for("90-real", 8, 6));
  CHECK_FALSE(has_kernels_for("90-real", 10, 0));
  CHECK(has_kernels_for("80-real", 8, 6));
  CHECK_FALSE(has_kernels_for("86-real", 8, 0));
  CHECK(has_kernels_for("80-real;90", 12, 0));  // through PTX
  CHECK(has_kernels_for("75-virtual", 9, 0));
  CHECK_FALSE(has_kernels_for("75-virtual", 7, 0));
  CHECK(has_kernels_for("90a", 9, 0));
  CHECK_FALSE(has_kernels_for("90a", 10, 0));
  CHECK(has_kernels_for("100f-real", 10, 3));
  CHECK_FALSE(has_kernels_for("100f-real", 12, 0));
  CHECK(has_kernels_for("100f", 10, 3));
  CHECK_FALSE(has_kernels_for("103f", 10, 0));
  CHECK_FALSE(has_kernels_for("100f", 12, 0));  // its PTX is also specific to the family
  CHECK_FALSE(has_kernels_for("100f-virtual", 11, 0));
  CHECK_FALSE(has_kernels_for("90a-virtual", 10, 0));
  CHECK(has_kernels_for("native", 8, 9));
  CHECK_FALSE(has_kernels_for("", 9, 0));
}

TEST_CASE("the architectures of releases support all GPUs from 8.0") {
  constexpr char kRelease[] = "80-real,86-real,89-real,90-real,100-real,120";
  for (const auto& [major, minor] :
       {std::pair{8, 0}, {8, 6}, {8, 9}, {9, 0}, {10, 0}, {10, 3}, {12, 0}, {12, 1}, {13, 0}})
    CHECK(has_kernels_for(kRelease, major, minor));
  CHECK_FALSE(has_kernels_for(kRelease, 7, 5));
}

// LruCache and OnceCache: eviction of the least recently used entry, and values that are computed once.

TEST_CASE("LruCache evicts the least recently used entry when it is full") {
  LruCache<int, std::unique_ptr<int>> cache(2);
  CHECK(cache.find(1) == nullptr);
  int* const one = cache.insert(1, std::make_unique<int>(10)).get();
  cache.insert(2, std::make_unique<int>(20));
  REQUIRE(cache.find(1) != nullptr);
  cache.insert(3, std::make_unique<int>(30));
  CHECK(cache.size() == 2);
  CHECK(cache.find(2) == nullptr);
  REQUIRE(cache.find(1) != nullptr);
  CHECK(cache.find(1)->get() == one);
  CHECK(**cache.find(3) == 30);
  cache.insert(1, std::make_unique<int>(11));
  CHECK(cache.size() == 2);
  CHECK(**cache.find(1) == 11);
}

TEST_CASE("LruCache distinguishes keys by every byte") {
  struct Key {
    long a;
    int b[2];
  };
  LruCache<Key, int> cache(100);
  for (int i = 0; i < 50; ++i) cache.insert({7, {0, i}}, i);
  for (int i = 0; i < 50; ++i) {
    REQUIRE(cache.find({7, {0, i}}) != nullptr);
    CHECK(*cache.find({7, {0, i}}) == i);
  }
  CHECK(cache.find({8, {0, 0}}) == nullptr);
}

TEST_CASE("OnceCache computes a value once for any number of threads") {
  OnceCache<int, int> cache(10);
  std::atomic<int> made{0}, asking{0};
  std::atomic<bool> right{true};
  std::vector<std::thread> threads;
  for (int t = 0; t < 6; ++t)
    threads.emplace_back([&] {
      ++asking;
      const int value = cache.get(7, [&] {
        ++made;
        // the other threads find it being computed, or computed
        while (asking < 6) std::this_thread::yield();
        return 70;
      });
      if (value != 70) right = false;
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(right);
  CHECK(made == 1);
  CHECK(cache.get(8, [] { return 80; }) == 80);
  CHECK(cache.get(7, [] { return 0; }) == 70);
}

TEST_CASE("the computation of a value of OnceCache may request another value") {
  OnceCache<int, int> cache(10);
  const int outer = cache.get(1, [&] { return cache.get(2, [] { return 20; }) + 1; });
  CHECK(outer == 21);
}

TEST_CASE("OnceCache rethrows a failed computation to all waiting threads and retries later") {
  OnceCache<int, int> cache(10);
  std::atomic<int> made{0}, asking{0}, failed{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t)
    threads.emplace_back([&] {
      try {
        cache.get(7, [&]() -> int {
          if (made++ == 0) {
            ++asking;
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
          }
          throw std::runtime_error("no");
        });
      } catch (const std::runtime_error&) {
        ++failed;
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(failed == 4);
  CHECK(cache.get(7, [] { return 70; }) == 70);
}

TEST_CASE("OnceCache supports erase, put and eviction") {
  OnceCache<int, int> cache(2);
  cache.get(1, [] { return 10; });
  cache.erase(1);
  cache.erase(1);
  CHECK(cache.get(1, [] { return 11; }) == 11);
  cache.put(1, 12);
  CHECK(cache.get(1, [] { return 0; }) == 12);
  cache.put(2, 20);
  cache.put(3, 30);
  CHECK(cache.get(1, [] { return 13; }) == 13);
}
