// The CPU kernels sample (real-valued distributions), poisson and binomial.
#include <ebb/core/visit.h>

#include "core/parallel_for.h"
#include "ops/random/counts.h"
#include "ops/random/draw.h"
#include "ops/random/kernels.h"

#include <bit>

namespace ebb::cpu {
namespace {

using ops::Distribution;

// Converts a normally distributed number to T. Only the range of 16-bit types may be too small for it. The
// result is then the finite number with the largest magnitude.
template <class T>
T normal_as(double x) {
  if constexpr (is_half_v<T>)
    return finite<T>(x);
  else
    return static_cast<T>(x);
}

template <class T>
constexpr auto kUniform = [](T& element, Bits<T> bits) { element = uniform_of<T>(bits); };

// Fills at least sixteen contiguous elements: first with uniform numbers, then block by block with normal
// ones. An incomplete last block draws sixteen new numbers and overlaps the previous block. 16-bit numbers
// are computed as floats and rounded once.
template <class T>
void normal_fill(NdArray& out, double mean, double deviation, Mt19937& engine) {
  using C = Compute<T>;
  T* const data = out.address_as<T>();
  const std::int64_t n = out.numel();
  const C m = static_cast<C>(mean), s = static_cast<C>(deviation);
  constexpr std::int64_t kMost = 512;
  C some[kMost];
  const auto draw = [&](T* to, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) some[i] = draw_uniform<T>(engine);
    box_muller(some, count / 16, m, s);
    for (std::int64_t i = 0; i < count; ++i) to[i] = normal_as<T>(some[i]);
  };
  if constexpr (std::is_same_v<T, C>) {
    for_each_with_bits<T, T>(out, engine, kUniform<T>);
    parallel_for(0, n / 16, 256, [=](std::int64_t begin, std::int64_t end) {
      box_muller(data + begin * 16, end - begin, m, s);
    });
  } else {
    const std::int64_t whole = n / 16 * 16;
    for (std::int64_t i = 0; i < whole; i += kMost) draw(data + i, std::min(kMost, whole - i));
  }
  if (n % 16 != 0) draw(data + n - 16, 16);
}

// Writes uniform numbers in [a, b) to out. Rounding can yield the excluded end b. Such numbers are replaced
// by the last number before b.
template <class T>
void uniform(NdArray& out, double a, double b, Mt19937& engine) {
  using C = Compute<T>;
  const C from = static_cast<C>(a), to = static_cast<C>(b), width = to - from;
  const T low = static_cast<T>(from), high = static_cast<T>(to);
  const C last = static_cast<C>(static_cast<C>(low) < static_cast<C>(high) ? before(high) : low);
  const auto fill = [&](auto&& stretch) {
    for_each_with_bits<T, T>(out, engine, [=](T& element, Bits<T> bits) {
      const C x = stretch(uniform_of<T>(bits));
      element = static_cast<T>(x < last ? x : last);
    });
  };
  if (from != 0 || width != 1)
    fill([=](C u) { return fused(u, width, from); });
  else if constexpr (!std::is_same_v<T, C>)
    fill([](C u) { return u; });
  else
    for_each_with_bits<T, T>(out, engine, kUniform<T>);
}

template <class T, class F>
void fill_with(NdArray& out, F&& draw) {
  for_each_element<T>(out, [&](T& element) { element = draw(); });
}

template <class T>
void sample_floating(NdArray& out, Distribution kind, double a, double b, Generator::State& state) {
  Mt19937& engine = state.engine;
  switch (kind) {
    case Distribution::uniform:
      return uniform<T>(out, a, b, engine);
    case Distribution::normal:
      if (out.numel() >= 16 && out.is_contiguous()) return normal_fill<T>(out, a, b, engine);
      return fill_with<T>(out, [&] { return normal_as<T>(draw_normal(state, a, b)); });
    case Distribution::log_normal:
      return fill_with<T>(out, [&] { return positive<T>(std::exp(draw_normal(state, a, b))); });
    case Distribution::exponential:
      return fill_with<T>(
          out, [&] { return positive<T>(exponential_of<T>(draw_uniform<double>(engine), -1.0 / a)); });
    case Distribution::cauchy:
      return fill_with<T>(out, [&] {
        const double angle = std::numbers::pi * (draw_uniform<double>(engine) - 0.5);
        return finite<T>(fused(b, std::tan(angle), a));
      });
    default:
      break;
  }
}

}  // namespace

void sample(NdArray& out, ops::Distribution kind, double a, double b, Generator& generator) {
  Generator::State& state = generator.state();
  const std::lock_guard lock(state.mutex);
  if (kind == Distribution::bernoulli)
    return visit_all(out.dtype(), "bernoulli_", [&]<class T> {
      // The value is computed in T, because dropout divides by 1 - p in the tensor's dtype.
      const T values[] = {convert<T>(0.0), convert<T>(b)};
      // A uniform number is k 2^-53 with an integer k. It is less than a if k < threshold.
      const auto threshold = static_cast<std::int64_t>(std::ceil(std::ldexp(a, DtypeLimits<double>::digits)));
      constexpr std::uint64_t kMask = (std::uint64_t{1} << DtypeLimits<double>::digits) - 1;
      for_each_with_bits<double, T>(out, state.engine, [=](T& element, std::uint64_t bits) {
        // Selects with bit operations or a table, because a branch would be unpredictable.
        const std::uint64_t chosen =
            static_cast<std::uint64_t>(static_cast<std::int64_t>(bits & kMask) - threshold) >> 63;
        if constexpr (std::is_same_v<T, float>)
          element = __builtin_bit_cast(float, (0u - static_cast<std::uint32_t>(chosen)) &
                                                  __builtin_bit_cast(std::uint32_t, values[1]));
        else
          element = values[chosen];
      });
    });
  if (kind == Distribution::geometric)
    return visit_numeric(out.dtype(), "geometric_", [&]<class T> {
      const double scale = std::log1p(-a);
      fill_with<T>(out, [&] {  // a uniform number of 0 represents all numbers below 2^-53
        const double u = std::max(draw_uniform<double>(state.engine), 0x1p-54);
        return finite<T>(std::ceil(std::log(u) / scale));
      });
    });
  constexpr const char* names[] = {"uniform_", "normal_", "log_normal_", "exponential_", "cauchy_"};
  visit_floating(out.dtype(), names[static_cast<int>(kind)],
                 [&]<class T> { sample_floating<T>(out, kind, a, b, state); });
}

void poisson(NdArray& out, const NdArray& rates, Generator& generator) {
  Generator::State& state = generator.state();
  const std::lock_guard lock(state.mutex);
  const auto uniform = [&] { return draw_uniform<double>(state.engine); };
  visit_floating(out.dtype(), "poisson", [&]<class T> {
    const T* rate = rates.address_as<T>();
    T* const to = out.address_as<T>();
    for (std::int64_t i = 0, n = out.numel(); i < n; ++i) {
      const double expected = static_cast<double>(rate[i]);
      EBB_CHECK(!(expected < 0), "poisson: expects rates that are not negative, got ", expected, ".");
      to[i] = convert<T>(random::poisson(expected, uniform));
    }
  });
}

void binomial(NdArray& out, const NdArray& counts, const NdArray& chances, Generator& generator) {
  Generator::State& state = generator.state();
  const std::lock_guard lock(state.mutex);
  const auto uniform = [&] { return draw_uniform<double>(state.engine); };
  visit_floating(out.dtype(), "binomial", [&]<class T> {
    const T *n = counts.address_as<T>(), *p = chances.address_as<T>();
    T* const to = out.address_as<T>();
    for (std::int64_t i = 0, size = out.numel(); i < size; ++i)
      to[i] = convert<T>(random::binomial(static_cast<double>(n[i]), static_cast<double>(p[i]), uniform));
  });
}

}  // namespace ebb::cpu
