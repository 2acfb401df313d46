// The CPU kernels random_integers, random_any, bernoulli, permutation and multinomial.
#include <ebb/core/visit.h>

#include "ops/random/draw.h"
#include "ops/random/kernels.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace ebb::cpu {
namespace {

// Draws an integer of [base, base + range) as the remainder of a random number. As in torch, the random
// number has 32 bits if range < 2^28, for which the bias of the remainder is at most 1/16, otherwise 64 bits.
// A range of 0 means 2^64.
std::int64_t draw_integer(Mt19937& engine, std::uint64_t range, std::int64_t base) {
  if (range == 0) return static_cast<std::int64_t>(engine.next64());
  std::uint64_t rest;
  if (range >> 28) {
    std::uint64_t bits = engine.next64();
    // Rejects random numbers that would bias the remainder of such a large range. torch does not reject them.
    if (range >> 48)
      for (const std::uint64_t least = (0 - range) % range; bits < least;) bits = engine.next64();
    rest = bits % range;
  } else {
    rest = engine.next() % static_cast<std::uint32_t>(range);
  }
  return static_cast<std::int64_t>(rest + static_cast<std::uint64_t>(base));
}

// The weights of rows and categories, in any dense layout.
template <class T>
struct Weights {
  const T* data;
  std::int64_t rows, categories, row_step, step;

  explicit Weights(const NdArray& w)
      : data(w.address_as<T>()),
        rows(w.sizes()[0]),
        categories(w.sizes()[1]),
        row_step(w.strides()[0]),
        step(w.strides()[1]) {}
  std::int64_t place(std::int64_t row, std::int64_t j) const { return row * row_step + j * step; }
  double at(std::int64_t row, std::int64_t j) const {
    return static_cast<double>(static_cast<Compute<T>>(data[place(row, j)]));
  }
  /// Returns the sum of a row, times `scale`. If `ends` is not null, also writes the cumulative sums to it.
  double sum_of(std::int64_t row, double scale, double* ends) const {
    double sum = 0;
    bool valid = true;
    const T* weight = data + row * row_step;
    for (std::int64_t j = 0; j < categories; ++j, weight += step) {
      const double w = static_cast<double>(static_cast<Compute<T>>(*weight));
      valid &= w >= 0 && w <= DtypeLimits<double>::largest;
      sum += w * scale;
      if (ends) ends[j] = sum;
    }
    EBB_CHECK(valid, "multinomial: the probability tensor contains inf, nan or an element < 0.");
    EBB_CHECK(sum > 0, "multinomial: the sum of the probabilities of a row must be > 0.");
    return sum;
  }
  /// Returns a factor for the weights, so that neither their sums nor the quotients of weight and noise
  /// overflow.
  static double scale_for(double sum) { return sum > 0x1p900 ? 0x1p-100 : 1; }
};

// Draws with replacement. Sums are doubles for every dtype. A category of weight 0 has an empty interval, so
// it is never drawn.
template <class T>
void with_replacement(NdArray& out, const NdArray& weights, Mt19937& engine) {
  const Weights<T> w(weights);
  std::vector<double> ends(static_cast<std::size_t>(w.categories));
  const std::int64_t samples = out.sizes()[1];
  std::int64_t* to = out.address_as<std::int64_t>();
  for (std::int64_t row = 0; row < w.rows; ++row) {
    double sum = w.sum_of(row, 1, ends.data());
    if (const double scale = w.scale_for(sum); scale != 1) sum = w.sum_of(row, scale, ends.data());
    for (std::int64_t i = 0; i < samples; ++i)
      *to++ = std::upper_bound(ends.begin(), ends.end(), draw_uniform<double>(engine) * sum) - ends.begin();
  }
}

// Draws without replacement. Draws the categories in descending order of weight / exponential noise. The
// noise has the layout of the weights. For 16-bit weights the noise and the quotients are floats.
template <class T>
void without_replacement(NdArray& out, const NdArray& weights, Mt19937& engine) {
  const Weights<T> w(weights);
  std::vector<Compute<T>> noise(static_cast<std::size_t>(w.rows * w.categories));
  for (Compute<T>& e : noise)
    e = static_cast<Compute<T>>(std::max(exponential_of<T>(draw_uniform<double>(engine), -1), 0x1p-60));
  // Rounds to the precision of float, in the range of double.
  const auto rounded = [](double x) {
    if constexpr (std::is_same_v<T, double>) return x;
    const double spread = x * (0x1p29 + 1);  // Veltkamp, 1968
    return spread - (spread - x);
  };
  std::vector<std::pair<double, std::int64_t>> keys(static_cast<std::size_t>(w.categories));
  const std::int64_t samples = out.sizes()[1];
  std::int64_t* to = out.address_as<std::int64_t>();
  for (std::int64_t row = 0; row < w.rows; ++row) {
    const double scale = w.scale_for(w.sum_of(row, 1, nullptr));
    for (std::int64_t j = 0; j < w.categories; ++j) {
      const double weight = w.at(row, j) * scale;
      keys[j] = {weight > 0 ? rounded(weight / static_cast<double>(noise[w.place(row, j)])) : -1, j};
    }
    std::partial_sort(keys.begin(), keys.begin() + samples, keys.end(), [](const auto& a, const auto& b) {
      return a.first != b.first ? a.first > b.first : a.second < b.second;
    });
    EBB_CHECK(keys[samples - 1].first >= 0, "multinomial: cannot sample ", samples,
              " elements without replacement if fewer have a probability above 0.");
    for (std::int64_t i = 0; i < samples; ++i) *to++ = keys[i].second;
  }
}

}  // namespace

void random_integers(NdArray& out, std::uint64_t range, std::int64_t base, Generator& generator) {
  Generator::State& state = generator.state();
  const std::lock_guard lock(state.mutex);
  visit_all(out.dtype(), "random_", [&]<class T> {
    for_each_element<T>(out,
                        [&](T& element) { element = convert<T>(draw_integer(state.engine, range, base)); });
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
        element =
            convert<T>(static_cast<std::int64_t>(bits % ((std::uint64_t{1} << DtypeLimits<T>::digits) + 1)));
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
    // The op ensures that both arrays are contiguous.
    const P* q = p.address_as<P>();
    visit_all(out.dtype(), "bernoulli", [&]<class T> {
      T* const to = out.address_as<T>();
      for (std::int64_t i = 0, n = out.numel(); i < n; ++i) {
        const double chance = static_cast<double>(static_cast<Compute<P>>(q[i]));
        check(chance);
        double u;
        if constexpr (std::is_same_v<P, double>) {
          u = draw_uniform<double>(state.engine);
        } else {  // like torch, compares the low 24 bits first; the high 8 bits add precision
          const std::uint32_t word = state.engine.next();
          u = (word << 8 | word >> 24) * 0x1p-32;
        }
        to[i] = convert<T>(u < chance ? 1.0 : 0.0);
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
    if (n < std::numeric_limits<std::uint32_t>::max() / 20) {
      for (std::int64_t i = 0; i < n; ++i) data[i] = convert<T>(i);
      for (std::int64_t i = 0; i + 1 < n; ++i)
        std::swap(data[i], data[i + state.engine.next() % static_cast<std::uint32_t>(n - i)]);
      return;
    }
    // For larger sizes a random number of 32 bits would be too biased, so torch uses an inside-out shuffle.
    for (std::int64_t i = 0; i < n; ++i) {
      T& other = data[state.engine.next64() % static_cast<std::uint64_t>(i + 1)];
      data[i] = other;
      other = convert<T>(i);
    }
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
