// Device language: keywords, barriers, warp shuffles, votes and atomics, with the semantics of CUDA C++.
#pragma once

#include "cuda/emu/runtime/block.h"

#include <cmath>
#include <cstdint>
#include <cstring>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __forceinline__ inline
#define __grid_constant__
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
// One block runs at a time on one CPU thread, and all its fibers share the variable.
#define __shared__ static thread_local

inline void __syncthreads() { ebb::emu::wait_for_block(); }
inline void __syncwarp(unsigned = ~0u) { ebb::emu::wait_for_warp(); }
inline void __threadfence() {}
inline void __threadfence_block() {}
inline void __threadfence_system() {}
template <class T>
T __ldg(const T* p) {
  return *p;
}

namespace ebb::emu {

// Every lane publishes its value, waits, and reads the value of another lane.
template <class T>
T shuffle(T value, int from) {
  static_assert(sizeof(T) <= 8);
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  exchange_of(lane()) = bits;
  wait_for_warp();
  bits = exchange_of(from);
  turn_exchange();
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

inline int base_of(int width) { return lane() / width * width; }

}  // namespace ebb::emu

template <class T>
T __shfl_sync(unsigned, T value, int from, int width = 32) {
  return ebb::emu::shuffle(value, ebb::emu::base_of(width) + from % width);
}
template <class T>
T __shfl_xor_sync(unsigned, T value, int mask, int width = 32) {
  const int from = ebb::emu::lane() ^ mask;
  return ebb::emu::shuffle(value, from < ebb::emu::base_of(width) + width ? from : ebb::emu::lane());
}
template <class T>
T __shfl_down_sync(unsigned, T value, unsigned delta, int width = 32) {
  const int from = ebb::emu::lane() + static_cast<int>(delta);
  return ebb::emu::shuffle(value, from < ebb::emu::base_of(width) + width ? from : ebb::emu::lane());
}
template <class T>
T __shfl_up_sync(unsigned, T value, unsigned delta, int width = 32) {
  const int from = ebb::emu::lane() - static_cast<int>(delta);
  return ebb::emu::shuffle(value, from >= ebb::emu::base_of(width) ? from : ebb::emu::lane());
}
inline unsigned __ballot_sync(unsigned mask, bool vote) {
  unsigned votes = 0;
  for (int i = 0; i < 32; ++i)
    if ((mask >> i) & 1u) votes |= static_cast<unsigned>(__shfl_sync(mask, vote, i)) << i;
  return votes;
}
inline bool __any_sync(unsigned mask, bool vote) { return __ballot_sync(mask, vote) != 0; }
inline bool __all_sync(unsigned mask, bool vote) { return __ballot_sync(mask, vote) == mask; }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __clz(int x) { return x ? __builtin_clz(static_cast<unsigned>(x)) : 32; }
inline unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>((std::uint64_t{a} * b) >> 32);
}
inline unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  __extension__ using Wide = unsigned __int128;
  return static_cast<unsigned long long>(static_cast<Wide>(a) * b >> 64);
}

// Host threads may share a device, so these are real atomics.
template <class T>
T atomicAdd(T* at, T value) {
  T old = __atomic_load_n(at, __ATOMIC_RELAXED);
  while (!__atomic_compare_exchange_n(at, &old, static_cast<T>(old + value), true, __ATOMIC_RELAXED,
                                      __ATOMIC_RELAXED)) {
  }
  return old;
}
inline float atomicAdd(float* at, float value) {
  const float old = *at;
  *at = old + value;
  return old;
}
inline double atomicAdd(double* at, double value) {
  const double old = *at;
  *at = old + value;
  return old;
}
template <class T>
T atomicCAS(T* at, T expected, T value) {
  __atomic_compare_exchange_n(at, &expected, value, false, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
  return expected;
}
template <class T>
T atomicExch(T* at, T value) {
  return __atomic_exchange_n(at, value, __ATOMIC_RELAXED);
}
template <class T>
T atomicMax(T* at, T value) {
  const T old = *at;
  if (value > old) *at = value;
  return old;
}
template <class T>
T atomicMin(T* at, T value) {
  const T old = *at;
  if (value < old) *at = value;
  return old;
}
template <class T>
T atomicOr(T* at, T value) {
  return __atomic_fetch_or(at, value, __ATOMIC_RELAXED);
}
