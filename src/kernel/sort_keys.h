// Unsigned keys with the sort order of the elements, so that one sort serves every dtype. The sort is stable,
// because the element's position breaks ties.
#pragma once

#include <ebb/core/half.h>

#include <cstdint>
#include <type_traits>

namespace ebb::sort_keys {

template <class T>
using Key = std::conditional_t<(sizeof(T) <= 4), std::uint32_t, std::uint64_t>;

/// Returns the key of x. NaN has the largest key, and -0 has the key of 0.
template <class T>
EBB_HD Key<T> key_of(T x) {
  if constexpr (std::is_same_v<T, bool> || std::is_same_v<T, std::uint8_t>) {
    return x;
  } else if constexpr (std::is_integral_v<T>) {
    using K = Key<T>;
    return static_cast<K>(static_cast<std::make_signed_t<K>>(x)) ^ (K{1} << (8 * sizeof(K) - 1));
  } else if constexpr (std::is_floating_point_v<T>) {
    using K = Key<T>;
    constexpr K sign = K{1} << (8 * sizeof(K) - 1);
    if (x != x) return ~K{0};
    const K bits = x == 0 ? K{0} : __builtin_bit_cast(K, x);
    return bits & sign ? ~bits : bits | sign;
  } else {
    return key_of(static_cast<float>(x));
  }
}

/// A 32-bit key and a 32-bit position, compared as one integer.
struct Packed {
  std::uint64_t bits;
  template <class K>
  static EBB_HD Packed make(K key, std::int64_t at) {
    return {static_cast<std::uint64_t>(key) << 32 | static_cast<std::uint32_t>(at)};
  }
  EBB_HD std::int64_t index() const { return static_cast<std::uint32_t>(bits); }
  EBB_HD bool same_key(Packed o) const { return bits >> 32 == o.bits >> 32; }
  EBB_HD friend bool operator<(Packed a, Packed b) { return a.bits < b.bits; }
};

/// A key and a position, at least one of which has 64 bits.
struct Wide {
  std::uint64_t key;
  std::int64_t at;
  template <class K>
  static EBB_HD Wide make(K key, std::int64_t at) {
    return {static_cast<std::uint64_t>(key), at};
  }
  EBB_HD std::int64_t index() const { return at; }
  EBB_HD bool same_key(Wide o) const { return key == o.key; }
  EBB_HD friend bool operator<(Wide a, Wide b) { return a.key != b.key ? a.key < b.key : a.at < b.at; }
};

}  // namespace ebb::sort_keys
