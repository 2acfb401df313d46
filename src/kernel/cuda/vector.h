// Vectors: adjacent elements that are loaded and stored together.
#pragma once

#include <ebb/core/half.h>

#include <cstdint>
#include <type_traits>

namespace ebb::cuda {

template <class T, int V>
struct alignas(sizeof(T) * V) Vector {
  T at[V];
};

/// A loaded vector, stored as whole words. If a Vector is used across branches, nvcc gives each element its
/// own register, which is four registers per word for 1-byte elements.
template <class T, int V>
class Packed {
  using Word = std::conditional_t<sizeof(T) * V % 4 == 0, std::uint32_t, Vector<T, V>>;
  static constexpr int kWords = static_cast<int>(sizeof(T) * V / sizeof(Word));
  struct alignas(sizeof(T) * V) Words {
    Word at[kWords];
  };
  Words words_;

 public:
  Packed() = default;
  EBB_HD Packed(const Vector<T, V>& vector) : words_(__builtin_bit_cast(Words, vector)) {}
  EBB_HD static Packed load(const void* from) {
    Packed loaded;
    loaded.words_ = *static_cast<const Words*>(from);
    return loaded;
  }
  EBB_HD Vector<T, V> vector() const { return __builtin_bit_cast(Vector<T, V>, words_); }
};

/// Stores *to = value as a single store. In loops over long rows, nvcc splits a plain assignment into four
/// stores.
template <class T, int V>
EBB_HD void store_vector(void* to, const Vector<T, V>& value) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(value) == 16) return __stwb(static_cast<uint4*>(to), __builtin_bit_cast(uint4, value));
#endif
  *static_cast<Vector<T, V>*>(to) = value;
}

/// Returns the value at base + index, or `other` if `there` is false, with one predicated load and no branch.
/// nvcc would move the computation that uses the value into a branch, so that each of several loads would
/// wait for the previous one.
template <class T, class E>
EBB_HD T load_if(bool there, const E* base, std::int64_t index, T other) {
#if defined(__CUDA_ARCH__)
  const E* const from = base + index;
  if constexpr (sizeof(T) == 16) {
    uint4 word = __builtin_bit_cast(uint4, other);
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %5, 0; @p ld.global.v4.b32 {%0, %1, %2, %3}, [%4]; }"
                 : "+r"(word.x), "+r"(word.y), "+r"(word.z), "+r"(word.w)
                 : "l"(from), "r"(static_cast<int>(there))
                 : "memory");
    return __builtin_bit_cast(T, word);
  } else if constexpr (sizeof(T) == 8) {
    std::uint64_t word = __builtin_bit_cast(std::uint64_t, other);
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p ld.global.b64 %0, [%1]; }"
                 : "+l"(word)
                 : "l"(from), "r"(static_cast<int>(there))
                 : "memory");
    return __builtin_bit_cast(T, word);
  } else if constexpr (sizeof(T) == 4) {
    std::uint32_t word = __builtin_bit_cast(std::uint32_t, other);
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p ld.global.b32 %0, [%1]; }"
                 : "+r"(word)
                 : "l"(from), "r"(static_cast<int>(there))
                 : "memory");
    return __builtin_bit_cast(T, word);
  } else {
    static_assert(sizeof(T) == 2);
    std::uint16_t word = __builtin_bit_cast(std::uint16_t, other);
    asm volatile("{ .reg .pred p; setp.ne.s32 p, %2, 0; @p ld.global.b16 %0, [%1]; }"
                 : "+h"(word)
                 : "l"(from), "r"(static_cast<int>(there))
                 : "memory");
    return __builtin_bit_cast(T, word);
  }
#else
  return there ? *reinterpret_cast<const T*>(base + index) : other;
#endif
}

/// Elements of T in 16 bytes, the size of the largest load.
template <class T>
constexpr int kVectorWidth = static_cast<int>(16 / sizeof(T));

}  // namespace ebb::cuda
