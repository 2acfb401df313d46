// Integers, permutations and draws with given probabilities.
#include <ebb/core/visit.h>

#include "ops/random/draw.h"
#include "ops/random/kernels.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ebb::cpu {
namespace {

template <class T>
T from_bits(std::uint64_t bits, std::uint64_t range, std::int64_t base) {
  return convert<T>(static_cast<std::int64_t>(bits % range + static_cast<std::uint64_t>(base)));
}

// One row of weights to cumulative probabilities.
template <class T>
void cumulate(const T* weights, std::vector<T>& sums) {
  using C = Compute<T>;
  C sum = 0;
  for (std::size_t j = 0; j < sums.size(); ++j) {
    const C w = static_cast<C>(weights[j]);
    EBB_CHECK(w >= 0 && std::isfinite(w),
              "multinomial: the probability tensor contains inf, nan or an element < 0.");
    sum = static_cast<C>(static_cast<T>(sum + w));
    sums[j] = static_cast<T>(sum);
  }
  EBB_CHECK(sum > 0, "multinomial: the sum of the probabilities of a row must be > 0.");
  for (T& s : sums) s = static_cast<T>(static_cast<C>(s) / sum);
  sums.back() = T(1);
}

template <class T>
void with_replacement(NdArray& out, const NdArray& weights, Mt19937& engine) {
  const std::int64_t rows = weights.sizes()[0], categories = weights.sizes()[1], samples = out.sizes()[1];
  std::vector<T> sums(static_cast<std::size_t>(categories));
  std::int64_t* to = out.address_as<std::int64_t>();
  for (std::int64_t row = 0; row < rows; ++row) {
    cumulate(weights.address_as<T>() + row * categories, sums);
    for (std::int64_t i = 0; i < samples; ++i) {
      const double u = draw_uniform<double>(engine);
      const auto below = [](const T& sum, double x) {
        return static_cast<double>(static_cast<Compute<T>>(sum)) < x;
      };
      *to++ = std::lower_bound(sums.begin(), sums.end(), u, below) - sums.begin();
    }
  }
}

// The largest of weight / exponential noise is distributed as a draw, the next largest as the draw after it,
// ...
template <class T>
void without_replacement(NdArray& out, const NdArray& weights, Mt19937& engine) {
  using C = Compute<T>;
  const std::int64_t rows = weights.sizes()[0], categories = weights.sizes()[1], samples = out.sizes()[1];
  std::vector<std::pair<C, std::int64_t>> keys(static_cast<std::size_t>(categories));
  std::vector<T> sums(static_cast<std::size_t>(categories));
  for (std::int64_t row = 0; row < rows; ++row) cumulate(weights.address_as<T>() + row * categories, sums);
  std::int64_t* to = out.address_as<std::int64_t>();
  const T* w = weights.address_as<T>();
  for (std::int64_t row = 0; row < rows; ++row) {
    for (std::int64_t j = 0; j < categories; ++j, ++w) {
      const C noise = static_cast<C>(convert<T>(-std::log(1.0 - draw_uniform<double>(engine))));
      const C weight = static_cast<C>(*w);
      keys[j] = {weight > 0 ? static_cast<C>(static_cast<T>(weight / noise)) : C(-1), j};  // noise may be 0
    }
    std::partial_sort(keys.begin(), keys.begin() + samples, keys.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    EBB_CHECK(keys[samples - 1].first >= 0, "multinomial: cannot sample ", samples,
              " elements without replacement where fewer have a probability above 0.");
    for (std::int64_t i = 0; i < samples; ++i) *to++ = keys[i].second;
  }
}

}  // namespace

void random_integers(NdArray& out, std::uint64_t range, std::int64_t base, Generator& generator) {
  Generator::State& state = generator.state();
  const std::lock_guard lock(state.mutex);
  visit_all(out.dtype(), "random_", [&]<class T> {
    constexpr bool wide = std::is_same_v<T, std::int64_t> || std::is_same_v<T, double> ||
                          std::is_same_v<T, float> || std::is_same_v<T, BFloat16>;
    for_each_element<T>(out, [&](T& element) {
      if (range == 0)
        element = convert<T>(static_cast<std::int64_t>(state.engine.next64()));
      else if (wide && range >> 32)
        element = from_bits<T>(state.engine.next64(), range, base);
      else
        element = from_bits<T>(state.engine.next(), range, base);
    });
  });
}

void random_any(NdArray& out, Generator& generator) {
  Generator::State& state = generator.state();
  const std::lock_guard lock(state.mutex);
  visit_all(out.dtype(), "random_", [&]<class T> {
    for_each_element<T>(out, [&](T& element) {
      constexpr bool wide = std::is_same_v<T, std::int64_t> || std::is_same_v<T, double>;
      const std::uint64_t bits = wide ? state.engine.next64() : state.engine.next();
      if constexpr (std::is_same_v<T, bool>)
        element = bits & 1;
      else if constexpr (std::is_integral_v<T>)
        element = static_cast<T>(bits % (static_cast<std::uint64_t>(std::numeric_limits<T>::max()) + 1));
      else
        element = convert<T>(static_cast<std::int64_t>(bits % ((std::uint64_t{1} << kDigits<T>)+1)));
    });
  });
}

void bernoulli(NdArray& out, const NdArray& p, Generator& generator) {
  Generator::State& state = generator.state();
  const std::lock_guard lock(state.mutex);
  const auto check = [](double q) {
    EBB_CHECK(q >= 0 && q <= 1, "bernoulli: expects probabilities in [0, 1], got ", q, ".");
  };
  visit_floating(p.dtype(), "bernoulli", [&]<class P> {
    using Draw = Compute<P>;
    // Both are contiguous here: the front end saw to it.
    const P* q = p.address_as<P>();
    visit_all(out.dtype(), "bernoulli", [&]<class T> {
      T* const to = out.address_as<T>();
      for (std::int64_t i = 0, n = out.numel(); i < n; ++i) {
        const Draw chance = static_cast<Draw>(q[i]);
        check(chance);
        to[i] = convert<T>(draw_uniform<Draw>(state.engine) < chance ? 1.0 : 0.0);
      }
    });
  });
}

void permutation(NdArray& out, Generator& generator) {
  Generator::State& state = generator.state();
  const std::lock_guard lock(state.mutex);
  visit_numeric(out.dtype(), "randperm", [&]<class T> {
    T* const data = out.address_as<T>();
    const std::int64_t n = out.numel();
    for (std::int64_t i = 0; i < n; ++i) data[i] = convert<T>(i);
    for (std::int64_t i = 0; i + 1 < n; ++i) std::swap(data[i], data[i + state.engine.next() % (n - i)]);
  });
}

void multinomial(NdArray& out, const NdArray& weights, bool replacement, Generator& generator) {
  Generator::State& state = generator.state();
  const std::lock_guard lock(state.mutex);
  visit_floating(weights.dtype(), "multinomial", [&]<class T> {
    if (replacement)
      with_replacement<T>(out, weights, state.engine);
    else
      without_replacement<T>(out, weights, state.engine);
  });
}

}  // namespace ebb::cpu
