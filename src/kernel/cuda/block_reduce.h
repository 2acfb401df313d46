// Reductions over the threads of a warp or a block, in an order that depends only on the launch shape.
#pragma once

#include "kernel/grid.h"

#include <cuda_runtime.h>

#include <cstdint>

namespace ebb::cuda {

constexpr unsigned kFullWarp = 0xffffffffu;
constexpr int kWarp = 32;

namespace detail {

// Shuffles any trivially copyable value, word by word.
template <class T, class Word>
__device__ T by_words(T value, const Word& shuffle) {
  static_assert(sizeof(T) % 4 == 0 || sizeof(T) < 4);
  constexpr int kWords = (sizeof(T) + 3) / 4;
  std::uint32_t words[kWords] = {};
  __builtin_memcpy(words, &value, sizeof(T));
  for (int i = 0; i < kWords; ++i) words[i] = shuffle(words[i]);
  __builtin_memcpy(static_cast<void*>(&value), words, sizeof(T));
  return value;
}

}  // namespace detail

/// Returns the value of the lane whose index is higher by `delta`. The warp is divided into groups of `width`
/// lanes.
template <class T>
__device__ T shuffle_down(T value, unsigned delta, int width = kWarp) {
  return detail::by_words(
      value, [=](std::uint32_t word) { return __shfl_down_sync(kFullWarp, word, delta, width); });
}
/// Returns the value of the lane whose index is lower by `delta`.
template <class T>
__device__ T shuffle_up(T value, unsigned delta, int width = kWarp) {
  return detail::by_words(value,
                          [=](std::uint32_t word) { return __shfl_up_sync(kFullWarp, word, delta, width); });
}
/// Returns the value of lane `from` of the group.
template <class T>
__device__ T shuffle_from(T value, int from, int width = kWarp) {
  return detail::by_words(value,
                          [=](std::uint32_t word) { return __shfl_sync(kFullWarp, word, from, width); });
}
template <class T>
__device__ T shuffle_first(T value, int width = kWarp) {
  return shuffle_from(value, 0, width);
}

/// Merges the values of each group of `width` lanes (a power of 2). The first lane of the group gets the
/// result.
template <class T, class Merge>
__device__ T warp_reduce(T value, const Merge& merge, int width = kWarp) {
  for (int delta = width / 2; delta > 0; delta /= 2)
    value = merge(value, shuffle_down(value, static_cast<unsigned>(delta), width));
  return value;
}

/// Merges the values of a block of `threads` threads (a power of 2, at least 32, along x). Every thread gets
/// the result. `scratch` is shared memory with one element per warp; it can be reused immediately.
template <class T, class Merge>
__device__ T block_reduce(T value, T* scratch, const Merge& merge, int thread, int threads) {
  value = warp_reduce(value, merge);
  if (threads == kWarp) {
    value = shuffle_first(value);
    __syncwarp();  // callers rely on a barrier here, and shuffles do not order memory accesses
    return value;
  }
  const int warps = threads / kWarp;
  if (thread % kWarp == 0) scratch[thread / kWarp] = value;
  __syncthreads();
  // Each warp merges the results of all warps itself, so that no warp waits for the merged result of another
  // warp.
  value = shuffle_first(warp_reduce(T(scratch[thread & (warps - 1)]), merge, warps), warps);
  __syncthreads();
  return value;
}

struct Plus {
  template <class T>
  __device__ T operator()(T a, T b) const {
    return a + b;
  }
};

/// Returns the block's dynamic shared memory.
template <class T>
__device__ T* dynamic_shared() {
#if defined(EBB_CUDA_EMU)
  return static_cast<T*>(ebb::emu::shared_memory());
#else
  extern __shared__ __align__(16) unsigned char ebb_dynamic_shared[];
  return reinterpret_cast<T*>(ebb_dynamic_shared);
#endif
}

}  // namespace ebb::cuda
