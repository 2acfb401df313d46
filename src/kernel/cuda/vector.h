// Neighbouring elements that are loaded and stored at once.
#pragma once

namespace ebb::cuda {

template <class T, int V>
struct alignas(sizeof(T) * V) Vector {
  T at[V];
};

/// Elements of T in 16 bytes, the most that one load moves.
template <class T>
constexpr int kVectorWidth = static_cast<int>(16 / sizeof(T));

}  // namespace ebb::cuda
