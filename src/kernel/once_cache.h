// Values that are dear to make, made once for all threads.
#pragma once

#include <exception>
#include <future>
#include <mutex>
#include <utility>

#include "kernel/lru_cache.h"

namespace ebb {

/// As LruCache, for several threads at once. Values are copied out; let them be light.
template <class Key, class Value>
class OnceCache {
 public:
  explicit OnceCache(std::size_t capacity) : held_(capacity) {}

  /// The value, by make() if there is none yet. Who asks while another thread makes it waits. When make()
  /// throws, all who wait get what it threw, and who asks later makes it anew.
  template <class Make>
  Value get(const Key& key, const Make& make) {
    std::promise<Value> promise;
    std::shared_future<Value> value;
    bool mine = false;
    {
      const std::lock_guard lock(mutex_);
      if (const auto* found = held_.find(key)) {
        value = *found;
      } else {
        value = held_.insert(key, promise.get_future().share());
        mine = true;
      }
    }
    if (mine) {
      try {
        promise.set_value(make());
      } catch (...) {
        {
          const std::lock_guard lock(mutex_);
          held_.erase(key);
        }
        promise.set_exception(std::current_exception());
      }
    }
    return value.get();
  }

  void erase(const Key& key) {
    const std::lock_guard lock(mutex_);
    held_.erase(key);
  }
  void put(const Key& key, Value value) {
    std::promise<Value> promise;
    promise.set_value(std::move(value));
    const std::lock_guard lock(mutex_);
    held_.insert(key, promise.get_future().share());
  }

 private:
  std::mutex mutex_;
  LruCache<Key, std::shared_future<Value>> held_;
};

}  // namespace ebb
