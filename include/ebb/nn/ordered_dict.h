// OrderedDict: a dictionary in insertion order.
#pragma once

#include <ebb/core/error.h>

#include <initializer_list>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

namespace ebb {

/// Maps keys to values in insertion order (torch::OrderedDict). Iteration yields items with key() and
/// value().
template <class Key, class Value>
class EBB_API OrderedDict {
 public:
  class Item {
   public:
    Item(Key key, Value value) : pair_(std::move(key), std::move(value)) {}
    Value& operator*() { return value(); }
    const Value& operator*() const { return value(); }
    Value* operator->() { return &value(); }
    const Value* operator->() const { return &value(); }
    const Key& key() const { return pair_.first; }
    Value& value() { return pair_.second; }
    const Value& value() const { return pair_.second; }
    const std::pair<const Key, Value>& pair() const { return pair_; }

   private:
    std::pair<const Key, Value> pair_;

   public:
    Item(const Item&) = default;
    Item(Item&&) = default;  // NOLINT(performance-noexcept-move-constructor): the const key is copied
    // std::vector::erase assigns items. A const key cannot be assigned, so the whole pair is constructed
    // again.
    Item& operator=(Item&& other) noexcept {
      if (this != &other) {
        this->~Item();
        ::new (static_cast<void*>(this)) Item(std::move(other));
      }
      return *this;
    }
    Item& operator=(const Item& other) { return *this = Item(other); }
  };
  using Iterator = typename std::vector<Item>::iterator;
  using ConstIterator = typename std::vector<Item>::const_iterator;

  /// `key_description` names the keys in errors: "Parameter 'weight' is not defined".
  explicit OrderedDict(std::string key_description = "Key") : key_description_(std::move(key_description)) {}
  OrderedDict(std::initializer_list<Item> items);

  const std::string& key_description() const noexcept { return key_description_; }
  std::size_t size() const noexcept { return items_.size(); }
  bool is_empty() const noexcept { return items_.empty(); }
  Iterator begin() { return items_.begin(); }
  Iterator end() { return items_.end(); }
  ConstIterator begin() const { return items_.begin(); }
  ConstIterator end() const { return items_.end(); }
  Item& front() { return check_any("front"), items_.front(); }
  const Item& front() const { return check_any("front"), items_.front(); }
  Item& back() { return check_any("back"), items_.back(); }
  const Item& back() const { return check_any("back"), items_.back(); }

  /// Returns the item at an index.
  Item& operator[](std::size_t index) { return at(index); }
  const Item& operator[](std::size_t index) const { return at(index); }
  /// Returns the value of a key. Throws if the key does not exist.
  Value& operator[](const Key& key);
  const Value& operator[](const Key& key) const;
  /// Returns the value of a key, or null.
  Value* find(const Key& key) noexcept;
  const Value* find(const Key& key) const noexcept;
  bool contains(const Key& key) const noexcept { return find(key) != nullptr; }

  /// Appends an item. Throws if the key exists already.
  template <class K, class V>
  Value& insert(K&& key, V&& value) {
    Key k(std::forward<K>(key));
    if (contains(k)) ebb::detail::fail(key_description_, " '", k, "' already defined. Give it another name.");
    index_.emplace(k, items_.size());
    items_.emplace_back(std::move(k), std::forward<V>(value));
    return items_.back().value();
  }
  Value& insert(Key key, Value&& value);
  /// Inserts all items of another dictionary.
  void update(const OrderedDict& other);
  void update(OrderedDict&& other);
  void erase(const Key& key);
  void clear();
  void reserve(std::size_t capacity);

  const std::vector<Item>& items() const noexcept { return items_; }
  std::vector<Key> keys() const;
  std::vector<Value> values() const;
  std::vector<std::pair<Key, Value>> pairs() const;

 private:
  [[noreturn]] void missing(const Key& key) const;
  void check_any(const char* function) const {
    EBB_CHECK(!is_empty(), "Called ", function, "() on an empty OrderedDict");
  }
  Item& at(std::size_t index);
  const Item& at(std::size_t index) const { return const_cast<OrderedDict&>(*this).at(index); }

  std::vector<Item> items_;
  std::unordered_map<Key, std::size_t> index_;
  std::string key_description_;
};

// These members are not inline, so that the library compiles its own dictionaries once (see module.h).

template <class Key, class Value>
OrderedDict<Key, Value>::OrderedDict(std::initializer_list<Item> items) : OrderedDict("Key") {
  for (const Item& item : items) insert(item.key(), item.value());
}

template <class Key, class Value>
Value& OrderedDict<Key, Value>::operator[](const Key& key) {
  Value* value = find(key);
  if (!value) missing(key);
  return *value;
}

template <class Key, class Value>
const Value& OrderedDict<Key, Value>::operator[](const Key& key) const {
  return const_cast<OrderedDict&>(*this)[key];
}

template <class Key, class Value>
Value* OrderedDict<Key, Value>::find(const Key& key) noexcept {
  const auto it = index_.find(key);
  return it == index_.end() ? nullptr : &items_[it->second].value();
}

template <class Key, class Value>
const Value* OrderedDict<Key, Value>::find(const Key& key) const noexcept {
  return const_cast<OrderedDict*>(this)->find(key);
}

template <class Key, class Value>
Value& OrderedDict<Key, Value>::insert(Key key, Value&& value) {
  return insert<Key, Value>(std::move(key), std::move(value));
}

template <class Key, class Value>
void OrderedDict<Key, Value>::update(const OrderedDict& other) {
  items_.reserve(size() + other.size());
  for (const Item& item : other) insert(item.key(), item.value());
}

template <class Key, class Value>
void OrderedDict<Key, Value>::update(OrderedDict&& other) {
  items_.reserve(size() + other.size());
  for (Item& item : other) insert(item.key(), std::move(item.value()));
}

template <class Key, class Value>
void OrderedDict<Key, Value>::erase(const Key& key) {
  const auto it = index_.find(key);
  if (it == index_.end()) missing(key);
  const std::size_t at = it->second;
  index_.erase(it);
  items_.erase(items_.begin() + static_cast<std::ptrdiff_t>(at));
  for (auto& entry : index_)
    if (entry.second > at) --entry.second;
}

template <class Key, class Value>
void OrderedDict<Key, Value>::clear() {
  items_.clear();
  index_.clear();
}

template <class Key, class Value>
void OrderedDict<Key, Value>::reserve(std::size_t capacity) {
  items_.reserve(capacity);
  index_.reserve(capacity);
}

template <class Key, class Value>
std::vector<Key> OrderedDict<Key, Value>::keys() const {
  std::vector<Key> out;
  for (const Item& item : items_) out.push_back(item.key());
  return out;
}

template <class Key, class Value>
std::vector<Value> OrderedDict<Key, Value>::values() const {
  std::vector<Value> out;
  for (const Item& item : items_) out.push_back(item.value());
  return out;
}

template <class Key, class Value>
std::vector<std::pair<Key, Value>> OrderedDict<Key, Value>::pairs() const {
  std::vector<std::pair<Key, Value>> out;
  for (const Item& item : items_) out.emplace_back(item.key(), item.value());
  return out;
}

template <class Key, class Value>
void OrderedDict<Key, Value>::missing(const Key& key) const {
  ebb::detail::fail(key_description_, " '", key, "' is not defined");
}

template <class Key, class Value>
typename OrderedDict<Key, Value>::Item& OrderedDict<Key, Value>::at(std::size_t index) {
  EBB_CHECK(index < items_.size(), "Index ", std::uint64_t{index}, " is out of bounds");
  return items_[index];
}

}  // namespace ebb
