// LruCache, a cache with least-recently-used eviction for one thread, and OnceCache for several threads.
#pragma once

#include <cstddef>
#include <exception>
#include <future>
#include <list>
#include <mutex>
#include <string_view>
#include <type_traits>
#include <unordered_map>
#include <utility>

namespace ebb {

/// A cache for one thread. Keys are hashed and compared as bytes. Not thread-safe.
template <class Key, class Value>
class LruCache {
  static_assert(std::has_unique_object_representations_v<Key>, "a key must have no padding and no floats");

 public:
  explicit LruCache(std::size_t capacity) : capacity_(capacity) {}

  /// Returns the value, or null if there is none. The pointer remains valid at least until `capacity` other
  /// keys have been used.
  Value* find(const Key& key) {
    const auto found = places_.find(bytes(key));
    if (found == places_.end()) return nullptr;
    entries_.splice(entries_.begin(), entries_, found->second);
    return &found->second->second;
  }

  Value& insert(const Key& key, Value value) {
    if (Value* held = find(key)) return *held = std::move(value);
    if (entries_.size() >= capacity_) {
      places_.erase(bytes(entries_.back().first));
      entries_.pop_back();
    }
    entries_.emplace_front(key, std::move(value));
    places_.emplace(bytes(entries_.front().first), entries_.begin());
    return entries_.front().second;
  }

  void erase(const Key& key) {
    const auto found = places_.find(bytes(key));
    if (found == places_.end()) return;
    const auto entry = found->second;  // owns the text of the map's key
    places_.erase(found);
    entries_.erase(entry);
  }

  std::size_t size() const { return entries_.size(); }

 private:
  using Entries = std::list<std::pair<Key, Value>>;

  static std::string_view bytes(const Key& key) { return {reinterpret_cast<const char*>(&key), sizeof(Key)}; }

  std::size_t capacity_;
  Entries entries_;  // the most recently used first
  std::unordered_map<std::string_view, typename Entries::iterator> places_;
};

/// A cache like LruCache, but thread-safe. get() returns copies, so values should be cheap to copy.
template <class Key, class Value>
class OnceCache {
 public:
  explicit OnceCache(std::size_t capacity) : held_(capacity) {}

  /// Returns the value of the key. Calls make() if there is none yet; other threads that request it meanwhile
  /// wait. If make() throws, all waiting threads get its exception, and later requests call make() again.
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
