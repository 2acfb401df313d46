// Neighbouring elements that are loaded and stored at once.
#pragma once

#include <ebb/core/half.h>

namespace ebb::cuda {

template <class T, int V>
struct alignas(sizeof(T) * V) Vector {
  T at[V];
};

/// *to = value, in one store: in loops over long rows nvcc makes four of a plain assignment.
template <class T, int V>
EBB_HD void store_vector(void* to, const Vector<T, V>& value) {
#if defined(__CUDA_ARCH__)
  if constexpr (sizeof(value) == 16) return __stwb(static_cast<uint4*>(to), __builtin_bit_cast(uint4, value));
#endif
  *static_cast<Vector<T, V>*>(to) = value;
}

/// Elements of T in 16 bytes, the most that one load moves.
template <class T>
constexpr int kVectorWidth = static_cast<int>(16 / sizeof(T));

}  // namespace ebb::cuda
