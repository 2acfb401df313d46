// Converts the bits of a generator to numbers, with the same bits as torch's CPU generator.
#pragma once

#include "core/generator_state.h"
#include "kernel/convert.h"
#include "ops/common/layout.h"
#include "ops/random/dtype_limits.h"
#include "ops/random/fused.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

namespace ebb::cpu {

using drawing::DtypeLimits, drawing::before, drawing::finite, drawing::positive;

/// The type of the random bits for one uniform number.
template <class T>
using Bits = std::conditional_t<std::is_same_v<T, double>, std::uint64_t, std::uint32_t>;

/// Returns a uniform number in [0, 1) in the type in which T is computed. The masked bits have sign 0, so the
/// conversion is that of a signed integer, for which vectors have an instruction.
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

/// Returns factor * log1p(-u), with the float that log1p yields. log(1 - u) costs half as much and differs
/// only in the last bits of a double. That matters only if the result may be halfway between two floats.
template <class T>
double exponential_of(double u, double factor) {
  if constexpr (!std::is_same_v<T, double>) {
    const double x = factor * std::log(1 - u);
    const std::uint64_t beyond = (std::bit_cast<std::uint64_t>(x) & 0x1fffffff) - (0x10000000 - 64);
    if (beyond > 128 && x > 1e-37) return x;
  }
  return factor * std::log1p(-u);
}

/// Returns a normal number. Numbers are computed in pairs (Box & Muller 1958); the generator stores the
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

/// Calls body(element) for all elements in memory order, the innermost dimension fastest.
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

/// Calls body(element, bits for one number of U) in the same order. Dense arrays are processed in blocks,
/// which vectorize.
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
