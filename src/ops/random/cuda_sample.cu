// Random numbers on the device: the i-th elements of a draw depend on the seed, the draw and i alone.
#include <ebb/core/visit.h>

#include <limits>

#include "kernel/cuda/fault.h"
#include "kernel/cuda/generator.h"
#include "kernel/cuda/walk.h"
#include "ops/random/cuda.h"
#include "ops/random/sampler.h"

namespace ebb::cuda {
namespace {

template <class T>
struct Sample {
  T* out;
  DeviceWalk<1> walk;
  Philox philox;
  drawing::Sampler<T> sampler;
  __device__ void operator()(std::int64_t group) const {
    constexpr int kEach = drawing::kPerCall<T>;
    std::uint32_t words[4];
    philox.words(static_cast<std::uint64_t>(group), words);
    T values[kEach];
    sampler(words, values);
    for (int k = 0; k < kEach; ++k) {
      const std::int64_t i = group * kEach + k;
      if (i >= walk.numel) return;
      std::int64_t at[1];
      walk.offsets(i, at);
      out[at[0]] = values[k];
    }
  }
};

// Elements from 64 bits each.
template <class T, class F>
struct FromBits {
  T* out;
  DeviceWalk<1> walk;
  Philox philox;
  F f;
  __device__ void operator()(std::int64_t group) const {
    std::uint32_t words[4];
    philox.words(static_cast<std::uint64_t>(group), words);
    for (int k = 0; k < 2; ++k) {
      const std::int64_t i = group * 2 + k;
      if (i >= walk.numel) return;
      std::int64_t at[1];
      walk.offsets(i, at);
      out[at[0]] = f(drawing::bits_of(words, k));
    }
  }
};

template <class T>
struct InRange {
  std::uint64_t range;
  std::int64_t base;
  __device__ T operator()(std::uint64_t bits) const {
    if (range == 0) return convert<T>(static_cast<std::int64_t>(bits));
    return convert<T>(static_cast<std::int64_t>(bits % range + static_cast<std::uint64_t>(base)));
  }
};

template <class T>
struct Any {
  __device__ T operator()(std::uint64_t bits) const {
    if constexpr (std::is_same_v<T, bool>)
      return bits & 1;
    else if constexpr (std::is_integral_v<T>)
      return static_cast<T>(bits & static_cast<std::uint64_t>(std::numeric_limits<T>::max()));
    else {
      constexpr int kDigits = std::is_same_v<T, double>  ? 53
                              : std::is_same_v<T, float> ? 24
                              : std::is_same_v<T, Half>  ? 11
                                                         : 8;
      return convert<T>(static_cast<std::int64_t>(bits % ((std::uint64_t{1} << kDigits) + 1)));
    }
  }
};

template <class T, class F>
void from_bits(NdArray& out, const F& f, Generator& generator) {
  const DeviceWalk<1> walk("random_", out.sizes(), {out.strides()});
  for_each(out.device(), (out.numel() + 1) / 2,
           FromBits<T, F>{out.data_as<T>(), walk, next_philox(out.device(), generator), f});
}

template <class T, class P>
struct Bernoulli {
  T* out;
  const P* p;
  Philox philox;
  FaultSink faults;
  __device__ void operator()(std::int64_t i) const {
    using C = Compute<P>;
    std::uint32_t words[4];
    philox.words(static_cast<std::uint64_t>(i), words);
    const C chance = static_cast<C>(p[i]);
    if (!(chance >= 0 && chance <= 1)) faults.note(i, 0);
    out[i] = convert<T>(drawing::uniform<C>(words, 0) < chance ? 1.0 : 0.0);
  }
};

}  // namespace

void sample(NdArray& out, ops::Distribution kind, double a, double b, Generator& generator) {
  if (out.numel() == 0) return;
  const DeviceWalk<1> walk("random", out.sizes(), {out.strides()});
  visit_all(out.dtype(), "random", [&]<class T> {
    constexpr std::int64_t kEach = drawing::kPerCall<T>;
    for_each(out.device(), (out.numel() + kEach - 1) / kEach,
             Sample<T>{out.data_as<T>(), walk, next_philox(out.device(), generator), {kind, a, b}});
  });
}

void random_integers(NdArray& out, std::uint64_t range, std::int64_t base, Generator& generator) {
  visit_all(out.dtype(), "random_", [&]<class T> { from_bits<T>(out, InRange<T>{range, base}, generator); });
}

void random_any(NdArray& out, Generator& generator) {
  visit_all(out.dtype(), "random_", [&]<class T> { from_bits<T>(out, Any<T>(), generator); });
}

void bernoulli(NdArray& out, const NdArray& p, Generator& generator) {
  visit_floating(p.dtype(), "bernoulli", [&]<class P> {
    visit_all(out.dtype(), "bernoulli", [&]<class T> {
      for_each(out.device(), out.numel(),
               Bernoulli<T, P>{out.data_as<T>(), p.data_as<P>(), next_philox(out.device(), generator),
                               fault_sink(out.device(), "bernoulli", "expects probabilities in [0, 1]")});
    });
  });
}

}  // namespace ebb::cuda
