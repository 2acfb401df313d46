// The cache that forgets what was used longest ago.
#include "kernel/lru_cache.h"
#include "support/catch.h"

#include <memory>

using ebb::LruCache;

TEST_CASE("a full cache forgets what was used longest ago") {
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

TEST_CASE("a cache tells keys apart by every byte") {
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
