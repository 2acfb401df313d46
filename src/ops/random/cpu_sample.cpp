// Real-valued distributions.
#include <ebb/core/visit.h>

#include "core/parallel_for.h"
#include "kernel/cpu/lane_functions.h"
#include "ops/random/draw.h"
#include "ops/random/kernels.h"

#include <cstring>

namespace ebb::cpu {
namespace {

using ops::Distribution;

// Sixteen uniforms to sixteen normals. Rounds to T after every step, as torch's arithmetic in T does.
template <class T>
void normal_block(T* data, T mean, T deviation) {
  using C = Compute<T>;
  const auto round = [](C x) { return static_cast<C>(static_cast<T>(x)); };
  constexpr C two_pi = static_cast<C>(2 * std::numbers::pi);
  for (int i = 0; i < 8; ++i) {
    const C u1 = round(1 - static_cast<C>(data[i])), u2 = static_cast<C>(data[i + 8]);
    const C radius = round(std::sqrt(round(-2 * round(std::log(u1))))), angle = round(two_pi * u2);
    const C m = static_cast<C>(mean), s = static_cast<C>(deviation);
    data[i] = static_cast<T>(round(round(radius * round(std::cos(angle))) * s) + m);
    data[i + 8] = static_cast<T>(round(round(radius * round(std::sin(angle))) * s) + m);
  }
}

template <class T>
void normal_blocks(T* data, std::int64_t blocks, T mean, T deviation) {
  for (; blocks > 0; --blocks, data += 16) normal_block(data, mean, deviation);
}

#if EBB_LIBMVEC
// The first half of both registers, and the second: of two blocks {u1, u2} all u1 and all u2, and back.
void exchange_halves(Lanes<float>& a, Lanes<float>& b) {
#ifdef EBB_WIDE_LANES
  typedef int Order __attribute__((vector_size(kLaneBytes)));
  const Order first = {0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23}, second = first + 8;
  const auto low = __builtin_shuffle(a.v, b.v, first), high = __builtin_shuffle(a.v, b.v, second);
  a.v = low;
  b.v = high;
#else
  (void)a, (void)b;  // each is half a block
#endif
}

// The common case: two registers at a time, which are a block or two.
template <>
void normal_blocks(float* data, std::int64_t blocks, float mean, float deviation) {
  using L = Lanes<float>;
  for (std::int64_t left = 16 * blocks; left > 0; left -= 2 * L::kCount, data += 2 * L::kCount) {
    const std::int64_t n = std::min<std::int64_t>(left - L::kCount, L::kCount);
    L a = L::load(data, L::kCount), b = n > 0 ? L::load(data + L::kCount, n) : a;
    exchange_halves(a, b);
    const L radius = sqrt(-2 * log(1 - a)), angle = static_cast<float>(2 * std::numbers::pi) * b;
    a = radius * cos(angle) * deviation + mean;
    b = radius * sin(angle) * deviation + mean;
    exchange_halves(a, b);
    a.store(data, L::kCount);
    if (n > 0) b.store(data + L::kCount, n);
  }
}
#endif

// Sixteen elements or more in one piece: uniforms first, then block by block. A last incomplete block draws
// sixteen anew and overlaps the one before.
template <class T>
void normal_fill(NdArray& out, double mean, double deviation, Mt19937& engine) {
  T* const data = out.address_as<T>();
  const std::int64_t n = out.numel();
  const T m = static_cast<T>(static_cast<Compute<T>>(mean)),
          s = static_cast<T>(static_cast<Compute<T>>(deviation));
  for_each_with_bits<T, T>(out, engine,
                           [](T& element, Bits<T> bits) { element = static_cast<T>(uniform_of<T>(bits)); });
  parallel_for(0, n / 16, 256, [&](std::int64_t begin, std::int64_t end) {
    normal_blocks(data + begin * 16, end - begin, m, s);
  });
  if (n % 16 == 0) return;
  T* const last = data + n - 16;
  for (int i = 0; i < 16; ++i) last[i] = static_cast<T>(draw_uniform<T>(engine));
  normal_blocks(last, 1, m, s);
}

template <class T, class F>
void fill_with(NdArray& out, F&& draw) {
  for_each_element<T>(out, [&](T& element) { element = convert<T>(draw()); });
}

template <class T>
void sample_floating(NdArray& out, Distribution kind, double a, double b, Generator::State& state) {
  Mt19937& engine = state.engine;
  switch (kind) {
    case Distribution::uniform: {
      using C = Compute<T>;
      const C from = static_cast<C>(static_cast<T>(static_cast<C>(a)));
      const C width =
          static_cast<C>(static_cast<T>(static_cast<C>(static_cast<T>(static_cast<C>(b))) - from));
      return for_each_with_bits<T, T>(out, engine, [=](T& element, Bits<T> bits) {
        element = convert<T>(uniform_of<T>(bits) * width + from);
      });
    }
    case Distribution::normal:
      if (out.numel() >= 16 && out.is_contiguous()) return normal_fill<T>(out, a, b, engine);
      return fill_with<T>(out, [&] { return draw_normal(state) * b + a; });
    case Distribution::log_normal:
      return fill_with<T>(out, [&] { return std::exp(draw_normal(state) * b + a); });
    case Distribution::exponential:
      return fill_with<T>(out, [&] { return -1.0 / a * std::log(1.0 - draw_uniform<double>(engine)); });
    case Distribution::cauchy:
      return fill_with<T>(
          out, [&] { return a + b * std::tan(std::numbers::pi * (draw_uniform<double>(engine) - 0.5)); });
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
      // Scaled in T: dropout divides by 1 - p in the tensor's own arithmetic.
      const T values[] = {convert<T>(0.0), convert<T>(b)};
      // A uniform number is a multiple of 2^-53, so that it is less than a where the multiple is below this.
      const auto threshold = static_cast<std::int64_t>(std::ceil(std::ldexp(a, kDigits<double>)));
      constexpr std::uint64_t kMask = (std::uint64_t{1} << kDigits<double>)-1;
      for_each_with_bits<double, T>(out, state.engine, [=](T& element, std::uint64_t bits) {
        // By arithmetic, or looked up: nobody can predict a branch.
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
      const double scale = std::log(1.0 - a);
      fill_with<T>(out, [&] { return std::ceil(std::log(draw_uniform<double>(state.engine)) / scale); });
    });
  constexpr const char* names[] = {"uniform_", "normal_", "log_normal_", "exponential_", "cauchy_"};
  visit_floating(out.dtype(), names[static_cast<int>(kind)],
                 [&]<class T> { sample_floating<T>(out, kind, a, b, state); });
}

}  // namespace ebb::cpu
