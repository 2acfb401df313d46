// ska::flat_hash_map, here an alias of std::unordered_map.
#pragma once

#include <unordered_map>
#include <unordered_set>

namespace ska {

namespace detail {
template <class Key, class Value, class Hash, class Equal>
struct MapOf {
  using Type = std::unordered_map<Key, Value, Hash, Equal>;
};
}  // namespace detail

template <class Key, class Value, class Hash = std::hash<Key>, class Equal = std::equal_to<Key>>
using flat_hash_map = typename detail::MapOf<Key, Value, Hash, Equal>::Type;
template <class Key, class Hash = std::hash<Key>, class Equal = std::equal_to<Key>>
using flat_hash_set = std::unordered_set<Key, Hash, Equal>;

}  // namespace ska
