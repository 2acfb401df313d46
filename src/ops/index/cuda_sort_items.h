// Sort items: keys of the elements of lines, with their indices. A 32-bit key shares a word with its index;
// wider keys store the index in a separate array.
#pragma once

#include "kernel/cuda/sort.h"
#include "kernel/cuda/walk.h"
#include "kernel/lines.h"
#include "ops/index/select_plan.h"

namespace ebb::cuda {

/// n items for each line.
struct Items {
  std::uint64_t* keys;
  std::int64_t* places;  // null if packed into the keys
  std::int64_t n;
  __device__ std::int64_t place(std::int64_t i) const {
    return places ? places[i] : static_cast<std::int64_t>(keys[i] & 0xffffffffu);
  }
  __device__ std::uint64_t key(std::int64_t i) const { return places ? keys[i] : keys[i] >> 32; }
  template <class K>
  __device__ void put(std::int64_t i, K key, std::int64_t place) const {
    if (places) {
      keys[i] = key;
      places[i] = place;
    } else {
      keys[i] = sorting::Packed::make(key, place).bits;
    }
  }
};

/// Calls body(items) with memory for n items of T for each of `lines` lines. `length` is the length of the
/// original lines.
template <class T, class Body>
void with_items(Device device, std::int64_t lines, std::int64_t n, std::int64_t length, const Body& body) {
  const bool packed = sizeof(sorting::Key<T>) == 4 && length <= std::int64_t{UINT32_MAX};
  const NdArray scratch = NdArray::empty({packed ? 1 : 2, lines * n}, kLong, device);
  body(Items{scratch.address_as<std::uint64_t>(),
             packed ? nullptr : scratch.address_as<std::int64_t>() + lines * n, n});
}

/// Sorts the items of each line. The sort is stable if the items are ordered by index.
template <class T>
void sort_items(Device device, const Items& items, std::int64_t lines) {
  constexpr KeyBits bits = sorting::key_bits<T>();
  if (items.places)
    sort_pairs(device, items.keys, items.places, lines, items.n);
  else
    sort_keys(device, items.keys, lines, items.n, {32 + bits.from, 32 + bits.to});
}

/// Writes the values and indices of the first `to.n` items of each line.
template <class T>
struct WriteItems {
  Items items;
  T* values;
  std::int64_t* indices;
  const T* x;
  Lines from, to;
  __device__ void operator()(std::int64_t i) const {
    const std::int64_t line = i / to.n, rank = i - line * to.n;
    const std::int64_t place = items.place(line * items.n + rank), at = to.start(line) + rank * to.inner;
    values[at] = x[from.start(line) + place * from.inner];
    indices[at] = place;
  }
};

}  // namespace ebb::cuda
