// Converts generator output to random numbers. The results are bit-identical to those of torch's CPU
// generator, on all processors.
#pragma once

#include "core/generator_state.h"
#include "kernel/convert.h"
#include "ops/common/layout.h"
#include "ops/random/dtype_limits.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

namespace ebb::cpu {

/// Fused multiply-add: a b + c, rounded once also on processors without such an instruction.
inline double fused(double a, double b, double c) { return std::fma(a, b, c); }

#if defined(__FMA__) || defined(__aarch64__)
inline float fused(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
#else
/// Returns product + c, rounded once to float. It avoids the error of double rounding: it rounds the sum to
/// odd in double, then to float (Boldo & Melquiond, IEEE Transactions on Computers 57(4), 2008).
[[gnu::noinline]] inline float fused_by_odd(double product, double c) {
  const double sum = product + c, moved = sum - product;
  const double rest = (product - (sum - moved)) + (c - moved);
  auto bits = __builtin_bit_cast(std::uint64_t, sum);
  if ((rest < 0 || rest > 0) && !(bits & 1)) bits += (rest > 0) == (sum > 0) ? 1 : -1;
  return static_cast<float>(__builtin_bit_cast(double, bits));
}

/// Returns a b + c rounded once. The product of floats is exact in double. Rounding the sum a second time is
/// wrong only if the double is halfway between two floats, or if the float may be subnormal.
[[gnu::always_inline]] inline float fused(float a, float b, float c) {
  const double product = static_cast<double>(a) * b, sum = product + c;
  if ((__builtin_bit_cast(std::uint64_t, sum) & 0x1fffffff) != 0x10000000 && std::fabs(sum) > 1e-37)
    return static_cast<float>(sum);
  return fused_by_odd(product, c);
}
#endif

// Box-Muller transform (Box & Muller 1958): sixteen normal numbers from sixteen uniform ones, bit-identical
// to torch's AVX2 kernel. Its logarithm, sine and cosine are those of the Cephes library (Moshier 1992), with
// products and sums fused as below. The loops have eight iterations without branches, so compilers vectorize
// them.

/// Returns log(x) for 2^-126 <= x <= 1.
inline float cephes_log(float x) {
  const auto bits = __builtin_bit_cast(std::int32_t, x);
  const float mantissa = __builtin_bit_cast(float, (bits & 0x807fffff) | 0x3f000000);
  const bool low = mantissa < 0.707106781186547524f;
  const float e = static_cast<float>((bits >> 23) - 126 - (low ? 1 : 0));
  x = mantissa - 1 + (low ? mantissa : 0.0f);
  const float z = x * x;
  float y = fused(7.0376836292e-2f, x, -1.1514610310e-1f);
  y = fused(y, x, 1.1676998740e-1f);
  y = fused(y, x, -1.2420140846e-1f);
  y = fused(y, x, 1.4249322787e-1f);
  y = fused(y, x, -1.6668057665e-1f);
  y = fused(y, x, 2.0000714765e-1f);
  y = fused(y, x, -2.4999993993e-1f);
  y = fused(y, x, 3.3333331174e-1f);
  y = fused(y * x, z, e * -2.12194440e-4f) - z * 0.5f;
  return fused(e, 0.693359375f, x + y);
}

struct SineAndCosine {
  float sine, cosine;
};

/// Returns the sine and cosine of x for 0 <= x < 2^13.
inline SineAndCosine cephes_sincos(float x) {
  const std::int32_t octant = (static_cast<std::int32_t>(x * 1.27323954473516f) + 1) & ~1;  // 4 / pi
  const float y = static_cast<float>(octant);
  x = fused(y, -0.78515625f, x);
  x = fused(y, -2.4187564849853515625e-4f, x);
  x = fused(y, -3.77489497744594108e-8f, x);
  const float z = x * x;
  float c = fused(2.443315711809948e-5f, z, -1.388731625493765e-3f);
  c = fused(c, z, 4.166664568298827e-2f);
  c = fused(c * z, z, z * -0.5f) + 1;
  float s = fused(-1.9515295891e-4f, z, 8.3321608736e-3f);
  s = fused(s, z, -1.6666654611e-1f);
  s = fused(s * z, x, x);
  const bool swapped = octant & 2;
  const float sine = swapped ? c : s, cosine = swapped ? s : c;
  return {octant & 4 ? -sine : sine, (octant - 2) & 4 ? cosine : -cosine};
}

/// Converts blocks of sixteen uniform numbers in [0, 1) to normal ones.
inline void box_muller(float* data, std::int64_t blocks, float mean, float deviation) {
  for (; blocks > 0; --blocks, data += 16)
    for (int i = 0; i < 8; ++i) {
      const float radius = std::sqrt(-2 * cephes_log(1 - data[i]));
      const SineAndCosine at = cephes_sincos(static_cast<float>(2 * std::numbers::pi) * data[i + 8]);
      data[i] = fused(radius * at.cosine, deviation, mean);
      data[i + 8] = fused(radius * at.sine, deviation, mean);
    }
}
inline void box_muller(double* data, std::int64_t blocks, double mean, double deviation) {
  for (; blocks > 0; --blocks, data += 16)
    for (int i = 0; i < 8; ++i) {
      const double radius = std::sqrt(-2 * std::log(1 - data[i])), angle = 2 * std::numbers::pi * data[i + 8];
      data[i] = fused(radius * std::cos(angle), deviation, mean);
      data[i + 8] = fused(radius * std::sin(angle), deviation, mean);
    }
}

using random::DtypeLimits, random::before, random::finite, random::positive;

/// The type of the random bits for one uniform number.
template <class T>
using Bits = std::conditional_t<std::is_same_v<T, double>, std::uint64_t, std::uint32_t>;

/// Returns a uniform number in [0, 1), as a Compute<T>. The masked bits have sign 0, so they are converted as
/// a signed integer, for which a vector instruction exists.
template <class T>
Compute<T> uniform_of(Bits<T> bits) {
  constexpr int digits = DtypeLimits<Compute<T>>::digits;
  constexpr Bits<T> mask = (Bits<T>{1} << digits) - 1;
  constexpr Compute<T> step = Compute<T>(1) / static_cast<Compute<T>>(std::uint64_t{1} << digits);
  return static_cast<Compute<T>>(static_cast<std::make_signed_t<Bits<T>>>(bits & mask)) * step;
}

template <class T>
Compute<T> draw_uniform(Mt19937& engine) {
  if constexpr (std::is_same_v<T, double>)
    return uniform_of<T>(engine.next64());
  else
    return uniform_of<T>(engine.next());
}

/// Returns factor * log1p(-u). log(1 - u) takes half the time and differs only in the last bits of a double.
/// Unless T is double, log(1 - u) is used if this difference cannot change the result after rounding to
/// float.
template <class T>
double exponential_of(double u, double factor) {
  if constexpr (!std::is_same_v<T, double>) {
    const double x = factor * std::log(1 - u);
    const std::uint64_t beyond = (std::bit_cast<std::uint64_t>(x) & 0x1fffffff) - (0x10000000 - 64);
    if (beyond > 128 && x > 1e-37) return x;
  }
  return factor * std::log1p(-u);
}

/// Returns a normal number. The numbers are computed in pairs (Box & Muller 1958); the generator stores the
/// second one for the next call.
inline double draw_normal(Generator::State& state, double mean, double deviation) {
  if (state.next_double) {
    const double kept = *state.next_double;
    state.next_double.reset();
    return fused(kept, deviation, mean);
  }
  const double u1 = draw_uniform<double>(state.engine), u2 = draw_uniform<double>(state.engine);
  const double radius = std::sqrt(-2.0 * std::log1p(-u2)), angle = 2.0 * std::numbers::pi * u1;
  state.next_double = radius * std::sin(angle);
  return fused(radius * std::cos(angle), deviation, mean);
}

/// Calls body(element) for all elements in memory order.
template <class T, class Body>
void for_each_element(const NdArray& x, Body&& body) {
  T* const data = x.address_as<T>();
  if (x.is_dense()) {
    for (std::int64_t i = 0, n = x.numel(); i < n; ++i) body(data[i]);
    return;
  }
  const DimVector order = ops::memory_order(x);
  DimVector index(order.size(), 0);
  std::int64_t at = 0;
  for (std::int64_t left = x.numel(); left > 0; --left) {
    body(data[at]);
    for (std::int64_t d : order) {
      at += x.strides()[d];
      if (++index[d] < x.sizes()[d]) break;
      at -= x.strides()[d] * x.sizes()[d];
      index[d] = 0;
    }
  }
}

/// Calls body(element, bits for one number of U) in memory order. Dense arrays are processed in blocks, which
/// vectorize.
template <class U, class T, class Body>
void for_each_with_bits(const NdArray& x, Mt19937& engine, Body&& body) {
  constexpr std::int64_t kWords = sizeof(Bits<U>) / sizeof(std::uint32_t), kBlock = 512;
  if (!x.is_dense())
    return for_each_element<T>(x, [&](T& element) {
      if constexpr (kWords == 2)
        body(element, engine.next64());
      else
        body(element, engine.next());
    });
  T* const data = x.address_as<T>();
  std::uint32_t words[kBlock * kWords];
  for (std::int64_t begin = 0, n = x.numel(); begin < n; begin += kBlock) {
    const std::int64_t count = std::min(kBlock, n - begin);
    engine.next(words, count * kWords);
    for (std::int64_t i = 0; i < count; ++i)
      if constexpr (kWords == 2)
        body(data[begin + i], std::uint64_t{words[2 * i]} << 32 | words[2 * i + 1]);
      else
        body(data[begin + i], words[i]);
  }
}

}  // namespace ebb::cpu
