// Atomic read-modify-write for any element type.
#pragma once

#include <ebb/core/half.h>

#include "kernel/arithmetic.h"

#include <cuda_runtime.h>

#include <cstdint>
#include <type_traits>

namespace ebb::cuda {

namespace detail {

/// The word that atomicCAS exchanges for an element of N bytes. atomicCAS has no 1-byte form. For a 1-byte
/// element, it exchanges the aligned 4 bytes that contain the element. These 4 bytes belong to the same
/// device allocation, because allocations are rounded up to 4 bytes.
template <std::size_t N>
struct AtomicWord {
  using type = unsigned int;
};
template <>
struct AtomicWord<2> {
  using type = unsigned short;
};
template <>
struct AtomicWord<8> {
  using type = unsigned long long;
};

}  // namespace detail

/// Atomically performs *at = combine(*at, value).
template <class T, class Combine>
__device__ void atomic_update(T* at, T value, const Combine& combine) {
  using Word = typename detail::AtomicWord<sizeof(T)>::type;
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  Word* const word = reinterpret_cast<Word*>(address / sizeof(Word) * sizeof(Word));
  const unsigned shift = static_cast<unsigned>(address % sizeof(Word)) * 8;
  // A plain load could read an old value from this multiprocessor's cache, which other threads' exchanges do
  // not update.
  Word seen = *const_cast<volatile Word*>(word);
  for (;;) {
    T old;
    const Word moved = static_cast<Word>(seen >> shift);
    __builtin_memcpy(static_cast<void*>(&old), &moved, sizeof(T));
    const T next = combine(old, value);
    Word bits = 0;
    __builtin_memcpy(&bits, &next, sizeof(T));
    Word wanted = bits;
    if constexpr (sizeof(T) < sizeof(Word)) {
      const Word mask = ((Word{1} << (8 * sizeof(T))) - 1) << shift;
      wanted = (seen & ~mask) | (bits << shift);
    }
    if (wanted == seen) return;
    const Word found = atomicCAS(word, seen, wanted);
    if (found == seen) return;
    seen = found;
  }
}

struct AtomicSum {
  template <class T>
  __device__ T operator()(T a, T b) const {
    if constexpr (std::is_same_v<T, bool>)
      return a || b;
    else
      return wrapping_add(a, b);
  }
};

/// Atomically performs *at += value.
template <class T>
__device__ void atomic_add(T* at, T value) {
  if constexpr (std::is_same_v<T, float> || std::is_same_v<T, double> || std::is_same_v<T, std::int32_t>)
    atomicAdd(at, value);
  else if constexpr (std::is_same_v<T, std::int64_t>)
    atomicAdd(reinterpret_cast<unsigned long long*>(at), static_cast<unsigned long long>(value));
  else
    atomic_update(at, value, AtomicSum());
}

}  // namespace ebb::cuda
