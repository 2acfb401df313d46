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
// The common case: as many blocks at once as a register has halves of them.
template <>
void normal_blocks(float* data, std::int64_t blocks, float mean, float deviation) {
  using L = Lanes<float>;
  constexpr std::int64_t kBlocks = L::kCount / 8;
  float u1[L::kCount], u2[L::kCount];
  for (; blocks > 0; blocks -= kBlocks, data += 16 * kBlocks) {
    const std::int64_t n = std::min(blocks, kBlocks);
    for (std::int64_t b = 0; b < n; ++b) {
      std::memcpy(u1 + 8 * b, data + 16 * b, 8 * sizeof(float));
      std::memcpy(u2 + 8 * b, data + 16 * b + 8, 8 * sizeof(float));
    }
    const L radius = sqrt(-2 * log(1 - L::load(u1, 8 * n)));
    const L angle = static_cast<float>(2 * std::numbers::pi) * L::load(u2, 8 * n);
    (radius * cos(angle) * deviation + mean).store(u1, L::kCount);
    (radius * sin(angle) * deviation + mean).store(u2, L::kCount);
    for (std::int64_t b = 0; b < n; ++b) {
      std::memcpy(data + 16 * b, u1 + 8 * b, 8 * sizeof(float));
      std::memcpy(data + 16 * b + 8, u2 + 8 * b, 8 * sizeof(float));
    }
  }
}
#endif

// Sixteen elements or more in one piece: uniforms first, then block by block. A last incomplete block draws
// sixteen anew and overlaps the one before.
template <class T>
void normal_fill(NdArray& out, double mean, double deviation, Mt19937& engine) {
  T* const data = out.data_as<T>();
  const std::int64_t n = out.numel();
  const T m = static_cast<T>(static_cast<Compute<T>>(mean)),
          s = static_cast<T>(static_cast<Compute<T>>(deviation));
  for (std::int64_t i = 0; i < n; ++i) data[i] = static_cast<T>(draw_uniform<T>(engine));
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
      return fill_with<T>(out, [&] { return draw_uniform<T>(engine) * width + from; });
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
      // Looked up, not chosen: nobody can predict the branch.
      const T values[] = {convert<T>(0.0), convert<T>(b)};
      for_each_element<T>(out, [&](T& element) { element = values[draw_uniform<double>(state.engine) < a]; });
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
