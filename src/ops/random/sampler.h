// From random words to numbers of a distribution, for host and device: what Device::CUDA draws. (The CPU
// reproduces torch's own way: draw.h.)
#pragma once

#include <cmath>

#include "kernel/convert.h"
#include "kernel/philox.h"
#include "ops/random/kernels.h"

namespace ebb::drawing {

/// Words hold this many elements of T.
template <class T>
constexpr int kPerCall = sizeof(T) == 8 ? 2 : 4;

/// Uniform in [0, 1): 24 bits for float, 53 for double, fewer for the 16-bit types, so that rounding cannot
/// reach 1.
template <class T>
EBB_HD Compute<T> uniform(const std::uint32_t (&words)[4], int i) {
  if constexpr (sizeof(T) == 8) {
    const std::uint64_t bits = std::uint64_t{words[2 * i]} << 32 | words[2 * i + 1];
    return static_cast<Compute<T>>(bits >> 11) * Compute<T>(1.0 / 9007199254740992.0);
  } else if constexpr (std::is_same_v<T, Half>) {
    return static_cast<float>(words[i] >> 21) * (1.0f / 2048);
  } else if constexpr (std::is_same_v<T, BFloat16>) {
    return static_cast<float>(words[i] >> 24) * (1.0f / 256);
  } else {
    return static_cast<Compute<T>>(words[i] >> 8) * Compute<T>(1.0f / 16777216);
  }
}

/// The arithmetic of T's distributions: float for 16 bits, double for integers.
template <class T>
using Work = std::conditional_t<std::is_integral_v<T> || std::is_same_v<T, double>, double, float>;
template <class T>
using Drawn = std::conditional_t<sizeof(T) == 8, double, float>;  // what uniform() is asked for

template <class T>
struct Sampler {
  ops::Distribution kind;
  double a, b;

  EBB_HD void operator()(const std::uint32_t (&words)[4], T (&out)[kPerCall<T>]) const {
    using W = Work<T>;
    using ops::Distribution;
    constexpr int n = kPerCall<T>;
    W u[n];
    for (int i = 0; i < n; ++i) u[i] = static_cast<W>(uniform<Drawn<T>>(words, i));
    if (kind == Distribution::normal || kind == Distribution::log_normal) {
      for (int i = 0; i < n; i += 2) {  // Box & Muller, 1958
        const W radius = std::sqrt(W(-2) * std::log(W(1) - u[i])), angle = W(6.283185307179586) * u[i + 1];
        u[i] = radius * std::cos(angle) * static_cast<W>(b) + static_cast<W>(a);
        u[i + 1] = radius * std::sin(angle) * static_cast<W>(b) + static_cast<W>(a);
      }
    }
    for (int i = 0; i < n; ++i) out[i] = finish(u[i], words, i);
  }

 private:
  EBB_HD T finish(Work<T> u, const std::uint32_t (&words)[4], int i) const {
    using W = Work<T>;
    using ops::Distribution;
    switch (kind) {
      case Distribution::uniform:
        if constexpr (!std::is_integral_v<T>) {
          const Compute<T> from = static_cast<Compute<T>>(T(static_cast<Compute<T>>(a)));
          const Compute<T> to = static_cast<Compute<T>>(T(static_cast<Compute<T>>(b)));
          const T value = T(uniform<T>(words, i) * (to - from) + from);
          return static_cast<Compute<T>>(value) < to || from == to ? value
                                                                   : T(from);  // rounding up to the end wraps
        }
        return T(0);
      case Distribution::normal:
        return convert<T>(u);
      case Distribution::log_normal:
        return convert<T>(std::exp(u));
      case Distribution::exponential:
        return convert<T>(-std::log(W(1) - u) / static_cast<W>(a));
      case Distribution::cauchy:
        return convert<T>(static_cast<W>(a) +
                          static_cast<W>(b) * std::tan(W(3.141592653589793) * (u - W(0.5))));
      case Distribution::geometric:
        return convert<T>(std::ceil(std::log(W(1) - u) / std::log(W(1) - static_cast<W>(a))) < W(1)
                              ? W(1)
                              : std::ceil(std::log(W(1) - u) / std::log(W(1) - static_cast<W>(a))));
      case Distribution::bernoulli:
        return convert<T>(u < static_cast<W>(a) ? b : 0.0);
    }
    return T(0);
  }
};

/// 64 random bits for the i-th of two elements.
EBB_HD inline std::uint64_t bits_of(const std::uint32_t (&words)[4], int i) {
  return std::uint64_t{words[2 * i]} << 32 | words[2 * i + 1];
}

}  // namespace ebb::drawing
