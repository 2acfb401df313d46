// Sorts items (keys with indices), where the keys are unsigned integers.
#pragma once

#include "kernel/cpu/scratch.h"
#include "kernel/sort_keys.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace ebb::cpu {

/// Calls body with the smallest item type that can contain the keys of T and the indices of a line.
template <class T, class Body>
void with_items(std::int64_t n, Body&& body) {
  if constexpr (sizeof(sort_keys::Key<T>) == 4)
    if (n <= std::int64_t{UINT32_MAX}) return body.template operator()<sort_keys::Packed>();
  body.template operator()<sort_keys::Wide>();
}

/// Returns the key of an item. The returned type has the width of the key.
inline std::uint32_t key_in(const sort_keys::Packed& item) {
  return static_cast<std::uint32_t>(item.bits >> 32);
}
inline std::uint64_t key_in(const sort_keys::Wide& item) { return item.key; }

/// Sorts items by key, and items with equal keys by index. The items must be ordered by index before the
/// call, so that a stable sort by key is enough. From kFew items on this is a radix sort, one byte at a time
/// from the lowest. It skips bytes that are equal in all keys.
template <class Item>
void sort_items(Item* items, std::int64_t n) {
  constexpr std::int64_t kFew = 256;
  if (n < kFew) return std::sort(items, items + n);
  constexpr int kBytes = sizeof(key_in(*items));
  std::array<std::array<std::int64_t, 256>, kBytes> starts{};
  for (std::int64_t i = 0; i < n; ++i)
    for (int byte = 0; byte < kBytes; ++byte) ++starts[byte][key_in(items[i]) >> (8 * byte) & 255];
  const Scratch<Item> other(n);
  Item *from = items, *to = other.get();
  for (int byte = 0; byte < kBytes; ++byte) {
    const auto digit = [byte](const Item& item) { return key_in(item) >> (8 * byte) & 255; };
    if (starts[byte][digit(from[0])] == n) continue;
    std::int64_t start = 0;
    for (std::int64_t& count : starts[byte]) start += std::exchange(count, start);
    for (std::int64_t i = 0; i < n; ++i) to[starts[byte][digit(from[i])]++] = from[i];
    std::swap(from, to);
  }
  if (from != items) std::copy(from, from + n, items);
}

/// Sorts the first k of n items.
template <class Item>
void sort_first(Item* items, std::int64_t n, std::int64_t k) {
  constexpr std::int64_t kMany = 16;  // if n is at least k * kMany, a heap of the k smallest items is cheaper
  if (k * kMany <= n) return std::partial_sort(items, items + k, items + n);
  if (k < n) std::nth_element(items, items + k, items + n);
  std::sort(items, items + k);
}

}  // namespace ebb::cpu
