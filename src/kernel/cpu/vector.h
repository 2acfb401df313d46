// Vector registers through the compiler's vector extension, for loops that it does not vectorise itself.
#pragma once

#include <cstdint>

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

}  // namespace ebb::cpu
