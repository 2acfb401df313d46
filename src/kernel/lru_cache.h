// A map that forgets what was used longest ago once it is full.
#pragma once

#include <cstddef>
#include <list>
#include <string_view>
#include <unordered_map>
#include <utility>

namespace ebb {

/// Keys are plain structs without padding that is left unset: they are hashed and compared as bytes. Not for
/// several threads at once.
template <class Key, class Value>
class LruCache {
 public:
  explicit LruCache(std::size_t capacity) : capacity_(capacity) {}

  /// The value, which stays where it is until `capacity` other keys have been used; null when there is none.
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
    const auto entry = found->second;  // whose key the place's own key lies in
    places_.erase(found);
    entries_.erase(entry);
  }

  std::size_t size() const { return entries_.size(); }

 private:
  using Entries = std::list<std::pair<Key, Value>>;

  static std::string_view bytes(const Key& key) { return {reinterpret_cast<const char*>(&key), sizeof(Key)}; }

  std::size_t capacity_;
  Entries entries_;  // the last used first
  std::unordered_map<std::string_view, typename Entries::iterator> places_;
};

}  // namespace ebb
