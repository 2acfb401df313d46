// Samplers of distributions for host and device: they compute random numbers from Philox words. CUDA devices
// use them. (The CPU uses torch's algorithms, see draw.h.)
#pragma once

#include "kernel/convert.h"
#include "kernel/philox.h"
#include "ops/random/dtype_limits.h"
#include "ops/random/kernels.h"

#include <cmath>
#include <limits>

namespace ebb::random {

/// The number of elements of T that are computed from four Philox words.
template <class T>
constexpr int kPerCall = sizeof(T) == 8 ? 2 : 4;

/// Returns 64 random bits for the i-th of two elements.
EBB_HD inline std::uint64_t bits_of(const std::uint32_t (&words)[4], int i) {
  return std::uint64_t{words[2 * i]} << 32 | words[2 * i + 1];
}

/// Returns a uniform number in [0, 1), with 53 bits for 8-byte types, otherwise 24.
template <class T>
EBB_HD auto uniform(const std::uint32_t (&words)[4], int i) {
  if constexpr (sizeof(T) == 8)
    return static_cast<double>(bits_of(words, i) >> 11) * (1.0 / 9007199254740992.0);
  else
    return static_cast<float>(words[i] >> 8) * (1.0f / 16777216);
}

/// The type in which distributions of T are computed: float for 16 bits, double for integers.
template <class T>
using Work = std::conditional_t<std::is_integral_v<T> || std::is_same_v<T, double>, double, float>;

/// Returns a uniform number in (0, 1]. Small numbers have more bits than in uniform(), so that logarithms
/// reach far tails.
template <class T>
EBB_HD Work<T> positive_uniform(const std::uint32_t (&words)[4], int i) {
  using W = Work<T>;
  if constexpr (sizeof(T) == 8)
    return static_cast<W>(bits_of(words, i) >> 11) * W(0x1p-53) + W(0x1p-54);
  else
    return static_cast<W>(words[i]) * W(0x1p-32) + W(0x1p-33);
}

/// Samples from a distribution. For the geometric distribution, `b` is log(1 - a).
template <class T>
struct Sampler {
  ops::Distribution kind;
  double a, b;

  EBB_HD void operator()(const std::uint32_t (&words)[4], T (&out)[kPerCall<T>]) const {
    using W = Work<T>;
    using ops::Distribution;
    constexpr int n = kPerCall<T>;
    W u[n];
    for (int i = 0; i < n; ++i) u[i] = positive_uniform<T>(words, i);
    if (kind == Distribution::normal || kind == Distribution::log_normal) {
      for (int i = 0; i < n; i += 2) {  // Box & Muller, 1958
        const W radius = std::sqrt(W(-2) * std::log(u[i])), angle = W(6.283185307179586) * u[i + 1];
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
    if (kind == Distribution::bernoulli) return convert<T>(u <= static_cast<W>(a) ? b : 0.0);
    if (kind == Distribution::geometric) {
      const W trials = std::ceil(std::log(u) / static_cast<W>(b));
      return finite<T>(trials >= W(1) ? trials : W(1));
    }
    if constexpr (!std::is_integral_v<T>) switch (kind) {
        case Distribution::uniform: {
          using C = Compute<T>;
          const T low = T(static_cast<C>(a)), high = T(static_cast<C>(b));
          const C from = static_cast<C>(low), to = static_cast<C>(high);
          const T value = T(uniform<T>(words, i) * (to - from) + from);
          // Rounding can yield the excluded end. Such numbers are replaced by the last number before it.
          return static_cast<C>(value) < to ? value : from < to ? before(high) : low;
        }
        case Distribution::normal:
          return finite<T>(u);
        case Distribution::log_normal:
          return positive<T>(std::exp(u));
        case Distribution::exponential:
          // Numbers in [1 - epsilon / 4, 1] round to u = 1. epsilon / 8 is -log of the middle of this
          // interval.
          return positive<T>((u < W(1) ? -std::log(u) : std::numeric_limits<W>::epsilon() / 8) /
                             static_cast<W>(a));
        case Distribution::cauchy:
          return finite<T>(static_cast<W>(a) +
                           static_cast<W>(b) * std::tan(W(3.141592653589793) * (u - W(0.5))));
        default:
          break;
      }
    return T(0);
  }
};

}  // namespace ebb::random
