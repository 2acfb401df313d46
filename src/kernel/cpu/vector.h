// Vector registers through the compiler's vector extension, for loops that it does not vectorise itself, and
// copies of bytes with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace ebb::cpu {

#if defined(__AVX512F__)
constexpr int kVectorBytes = 64;
#elif defined(__AVX2__)
constexpr int kVectorBytes = 32;
#else
constexpr int kVectorBytes = 16;
#endif

namespace detail {
template <class N, std::int64_t kCount>
struct Vector {
  typedef N type __attribute__((vector_size(kCount * sizeof(N))));
};
}  // namespace detail

/// A vector of kCount elements of type N.
template <class N, std::int64_t kCount>
using Vector = typename detail::Vector<N, kCount>::type;

/// Copies bytes like memmove(to, from, bytes). For sizes of some KiB, the C library uses a string
/// instruction, which is ten to twenty times slower on AMD's Zen 3 if an address is not aligned. From kLeast
/// to kMost bytes, this function copies with registers instead.
inline void move_bytes(char* to, const char* from, std::size_t bytes) {
  constexpr std::size_t kLeast = 1024, kMost = std::size_t{1} << 20, kStep = 4 * kVectorBytes;
  const auto target = reinterpret_cast<std::uintptr_t>(to), source = reinterpret_cast<std::uintptr_t>(from);
  if (bytes < kLeast || bytes > kMost || (target < source + bytes && source < target + bytes)) {
    std::memmove(to, from, bytes);
    return;
  }
  typedef char Row __attribute__((vector_size(kVectorBytes), aligned(1), may_alias));
  const auto step = [=](std::size_t at) {
    const Row* const x = reinterpret_cast<const Row*>(from + at);
    Row* const y = reinterpret_cast<Row*>(to + at);
    const Row a = x[0], b = x[1], c = x[2], d = x[3];
    y[0] = a;
    y[1] = b;
    y[2] = c;
    y[3] = d;
    asm volatile("" ::: "memory");  // prevents compilers from replacing the loop with a call of memcpy
  };
  step(0);
  for (std::size_t at = kStep - target % kVectorBytes; at + kStep <= bytes; at += kStep) step(at);
  step(bytes - kStep);
}

}  // namespace ebb::cpu
