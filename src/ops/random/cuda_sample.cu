// The device kernels of random distributions. The i-th element depends only on the seed, the number of the
// draw and i. An element of poisson and binomial draws as many random words as necessary, from Philox
// counters that no other element uses.
#include <ebb/core/visit.h>

#include "kernel/cuda/device.h"
#include "kernel/cuda/fault.h"
#include "kernel/cuda/vector.h"
#include "kernel/cuda/walk.h"
#include "ops/random/counts.h"
#include "ops/random/kernels.h"
#include "ops/random/sampler.h"

#include <limits>

namespace ebb::cuda {
namespace {

/// The elements of the result in row-major order. They are written in vectors if this is their order in
/// memory.
template <class T>
struct OutputElements {
  T* out;
  DeviceWalk<1> walk;
  bool vectors;

  OutputElements(const char* op, NdArray& to)
      : out(to.address_as<T>()),
        walk(op, to.sizes(), {to.strides()}),
        vectors(to.is_contiguous() && reinterpret_cast<std::uintptr_t>(out) % 32 == 0) {}
  template <int N>
  __device__ void put(std::int64_t first, const T (&values)[N]) const {
    if (vectors && first + N <= walk.numel) {
      Vector<T, N> all;
      for (int k = 0; k < N; ++k) all.at[k] = values[k];
      return store_vector(out + first, all);
    }
    for (int k = 0; k < N && first + k < walk.numel; ++k) {
      std::int64_t at[1];
      walk.offsets(first + k, at);
      out[at[0]] = values[k];
    }
  }
};

template <class T>
struct Sample {
  OutputElements<T> places;
  Philox philox;
  random::Sampler<T> sampler;
  __device__ void operator()(std::int64_t group) const {
    constexpr int kEach = random::kPerCall<T>;
    std::uint32_t words[4];
    philox.words(static_cast<std::uint64_t>(group), words);
    T values[kEach];
    sampler(words, values);
    places.put(group * kEach, values);
  }
};

// Computes each element from 64 random bits, and draws more bits from separate Philox counters if f needs
// more.
template <class T, class F>
struct FromBits {
  OutputElements<T> places;
  Philox philox;
  F f;
  __device__ void operator()(std::int64_t group) const {
    const auto number = static_cast<std::uint64_t>(group);
    std::uint32_t words[4];
    philox.words(number, words);
    T values[2];
    for (int k = 0; k < 2; ++k)
      values[k] = f(random::bits_of(words, k), [&](std::uint64_t round) {
        std::uint32_t others[4];
        philox.words(number + (round << 40), others);
        return random::bits_of(others, k);
      });
    places.put(group * 2, values);
  }
};

// Multiplies random bits by the range and takes the high half of the product. Bits that would bias the result
// are rejected (Lemire, ACM Transactions on Modeling and Computer Simulation 29, 2019).
template <class T>
struct InRange {
  std::uint64_t range;
  std::int64_t base;
  template <class More>
  __device__ T operator()(std::uint64_t bits, More&& more) const {
    if (range == 0) return convert<T>(static_cast<std::int64_t>(bits));
    std::uint64_t low = bits * range;
    if (low < range)
      for (std::uint64_t round = 1, favoured = (0 - range) % range; low < favoured; ++round) {
        bits = more(round);
        low = bits * range;
      }
    return convert<T>(static_cast<std::int64_t>(__umul64hi(bits, range) + static_cast<std::uint64_t>(base)));
  }
};

template <class T>
struct Any {
  template <class More>
  __device__ T operator()(std::uint64_t bits, More&&) const {
    if constexpr (std::is_same_v<T, bool>)
      return bits & 1;
    else
      return static_cast<T>(bits & static_cast<std::uint64_t>(std::numeric_limits<T>::max()));
  }
};

template <class T, class F>
void from_bits(NdArray& out, const F& f, Generator& generator) {
  for_each(out.device(), (out.numel() + 1) / 2,
           FromBits<T, F>{OutputElements<T>("random_", out), next_philox(out.device(), generator), f});
}

template <class T, class P>
struct Bernoulli {
  using C = Compute<P>;
  static constexpr int kEach = random::kPerCall<C>;
  OutputElements<T> places;
  const P* p;
  bool vectors;  // true if p can be read in vectors
  Philox philox;
  FaultSink faults;
  __device__ void operator()(std::int64_t group) const {
    std::uint32_t words[4];
    philox.words(static_cast<std::uint64_t>(group), words);
    const std::int64_t first = group * kEach;
    Vector<P, kEach> chances{};
    if (vectors && first + kEach <= places.walk.numel)
      chances = *reinterpret_cast<const Vector<P, kEach>*>(p + first);
    else
      for (int k = 0; k < kEach && first + k < places.walk.numel; ++k) chances.at[k] = p[first + k];
    T values[kEach];
    for (int k = 0; k < kEach; ++k) {
      const C chance = static_cast<C>(chances.at[k]);
      if (!(chance >= 0 && chance <= 1)) faults.note(first + k, 0);
      values[k] = convert<T>(random::positive_uniform<C>(words, k) <= chance ? 1.0 : 0.0);
    }
    places.put(first, values);
  }
};

}  // namespace

void sample(NdArray& out, ops::Distribution kind, double a, double b, Generator& generator) {
  if (out.numel() == 0) return;
  if (kind == ops::Distribution::geometric) b = std::log1p(-a);
  visit_all(out.dtype(), "random", [&]<class T> {
    constexpr std::int64_t kEach = random::kPerCall<T>;
    for_each(out.device(), (out.numel() + kEach - 1) / kEach,
             Sample<T>{OutputElements<T>("random", out), next_philox(out.device(), generator), {kind, a, b}});
  });
}

void random_integers(NdArray& out, std::uint64_t range, std::int64_t base, Generator& generator) {
  visit_all(out.dtype(), "random_", [&]<class T> { from_bits<T>(out, InRange<T>{range, base}, generator); });
}

void random_any(NdArray& out, Generator& generator) {
  visit_all(out.dtype(), "random_", [&]<class T> {
    if constexpr (std::is_integral_v<T>)
      from_bits<T>(out, Any<T>(), generator);
    else
      from_bits<T>(out, InRange<T>{(std::uint64_t{1} << random::DtypeLimits<T>::digits) + 1, 0}, generator);
  });
}

void bernoulli(NdArray& out, const NdArray& p, Generator& generator) {
  visit_floating(p.dtype(), "bernoulli", [&]<class P> {
    visit_all(out.dtype(), "bernoulli", [&]<class T> {
      constexpr int kEach = Bernoulli<T, P>::kEach;
      for_each(out.device(), (out.numel() + kEach - 1) / kEach,
               Bernoulli<T, P>{OutputElements<T>("bernoulli", out), p.address_as<P>(),
                               reinterpret_cast<std::uintptr_t>(p.address()) % 16 == 0,
                               next_philox(out.device(), generator),
                               fault_sink(out.device(), "bernoulli", "expects probabilities in [0, 1]")});
    });
  });
}

namespace {

/// Returns doubles in [0, 1), two for each Philox counter. The low bits of the counter are the index of the
/// element, the high bits count the calls.
class Uniform {
 public:
  EBB_HD Uniform(const Philox& philox, std::int64_t element)
      : philox_(philox), number_(static_cast<std::uint64_t>(element)) {}
  EBB_HD double operator()() {
    if (left_ == 0) {
      philox_.words(number_, words_);
      number_ += std::uint64_t{1} << 40;
      left_ = 2;
    }
    --left_;
    const std::uint64_t bits =
        left_ ? std::uint64_t{words_[0]} << 32 | words_[1] : std::uint64_t{words_[2]} << 32 | words_[3];
    return static_cast<double>(bits >> 11) * (1.0 / 9007199254740992.0);
  }

 private:
  const Philox& philox_;
  std::uint64_t number_;
  std::uint32_t words_[4];
  int left_ = 0;
};

template <class T>
struct Poisson {
  T* out;
  const T* rates;
  Philox philox;
  FaultSink faults;
  __device__ void operator()(std::int64_t i) const {
    const double rate = static_cast<double>(rates[i]);
    if (rate < 0) faults.note(i, 0);
    out[i] = convert<T>(random::poisson(rate < 0 ? 0.0 : rate, Uniform(philox, i)));
  }
};

template <class T>
struct Binomial {
  T* out;
  const T *counts, *chances;
  Philox philox;
  __device__ void operator()(std::int64_t i) const {
    out[i] = convert<T>(random::binomial(static_cast<double>(counts[i]), static_cast<double>(chances[i]),
                                         Uniform(philox, i)));
  }
};

}  // namespace

void poisson(NdArray& out, const NdArray& rates, Generator& generator) {
  visit_floating(out.dtype(), "poisson", [&]<class T> {
    for_each(out.device(), out.numel(),
             Poisson<T>{out.address_as<T>(), rates.address_as<T>(), next_philox(out.device(), generator),
                        fault_sink(out.device(), "poisson", "expects rates that are not negative")});
  });
}

void binomial(NdArray& out, const NdArray& counts, const NdArray& chances, Generator& generator) {
  visit_floating(out.dtype(), "binomial", [&]<class T> {
    for_each(out.device(), out.numel(),
             Binomial<T>{out.address_as<T>(), counts.address_as<T>(), chances.address_as<T>(),
                         next_philox(out.device(), generator)});
  });
}

}  // namespace ebb::cuda
