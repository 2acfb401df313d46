// Pointwise losses on the CPU, and their slots.
#include <ebb/core/visit.h>

#include <array>
#include <vector>

#include "core/parallel_for.h"
#include "kernel/convert.h"
#include "ops/loss/kernels.h"

namespace ebb::cpu {

namespace {

constexpr std::int64_t kPiece = 4096;  // sums are cut here, whatever the number of threads
constexpr int kLanes = 16;             // partial sums side by side, so that the compiler may vectorise

template <class T>
using Compute = std::conditional_t<is_half_v<T>, float, T>;

template <class T>
struct Inputs {
  const T *x, *y, *weight, *pos_weight;
  explicit Inputs(const kernels::LossInputs& in)
      : x(in.x.data_as<T>()),
        y(in.y.data_as<T>()),
        weight(in.weight.defined() ? in.weight.data_as<T>() : nullptr),
        pos_weight(in.pos_weight.defined() ? in.pos_weight.data_as<T>() : nullptr) {}
};

template <class T>
Compute<T> load(const T* values, std::int64_t i) {
  return static_cast<Compute<T>>(values[i]);
}

/// Calls body(value_at) with a function i -> w f(x, y) specialised on which weights are there.
template <class T, class At, class Body>
void with_weights(const Inputs<T>& in, const At& at, Body&& body) {
  using C = Compute<T>;
  if (!in.weight && !in.pos_weight)
    body([&](std::int64_t i) { return at(load(in.x, i), load(in.y, i), C(1)); });
  else
    body([&](std::int64_t i) {
      const C value = at(load(in.x, i), load(in.y, i), in.pos_weight ? load(in.pos_weight, i) : C(1));
      return in.weight ? value * load(in.weight, i) : value;
    });
}

}  // namespace

template <class F>
void pointwise_loss(NdArray& out, const F& f, const kernels::LossInputs& in, kernels::LossReduction how) {
  visit_floating(in.x.dtype(), "loss", [&]<class T> {
    using C = Compute<T>;
    const std::int64_t n = in.x.numel();
    T* const o = out.data_as<T>();
    with_weights(
        Inputs<T>(in), [&](C x, C y, C p) { return f.template value<C>(x, y, p); },
        [&](const auto& value) {
          if (!how.reduced)
            return parallel_for(0, n, kGrain / 8, [&](std::int64_t begin, std::int64_t end) {
              for (std::int64_t i = begin; i < end; ++i) o[i] = static_cast<T>(value(i));
            });
          const std::int64_t pieces = (n + kPiece - 1) / kPiece;
          std::vector<double> sums(static_cast<std::size_t>(pieces));
          parallel_for(0, pieces, 1, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t piece = first; piece < last; ++piece) {
              C lanes[kLanes] = {};
              const std::int64_t begin = piece * kPiece, end = begin + kPiece < n ? begin + kPiece : n;
              std::int64_t i = begin;
              for (; i + kLanes <= end; i += kLanes)
                for (int lane = 0; lane < kLanes; ++lane) lanes[lane] += value(i + lane);
              double sum = 0;
              for (; i < end; ++i) sum += value(i);
              for (const C lane : lanes) sum += lane;
              sums[static_cast<std::size_t>(piece)] = sum;
            }
          });
          double total = 0;
          for (const double sum : sums) total += sum;
          *o = static_cast<T>(static_cast<C>(total * how.scale));
        });
  });
}

template <class F>
void pointwise_loss_backward(NdArray& dx, const F& f, const NdArray& grad, const kernels::LossInputs& in,
                             kernels::LossReduction how) {
  visit_floating(in.x.dtype(), "loss_backward", [&]<class T> {
    using C = Compute<T>;
    T* const o = dx.data_as<T>();
    const T* const g = grad.data_as<T>();
    const C scale = static_cast<C>(how.scale);
    with_weights(
        Inputs<T>(in), [&](C x, C y, C p) { return f.template slope<C>(x, y, p); },
        [&](const auto& slope) {
          parallel_for(0, in.x.numel(), kGrain / 4, [&](std::int64_t begin, std::int64_t end) {
            if (how.reduced) {
              const C factor = load(g, 0) * scale;
              for (std::int64_t i = begin; i < end; ++i) o[i] = static_cast<T>(factor * slope(i));
            } else {
              for (std::int64_t i = begin; i < end; ++i) o[i] = static_cast<T>(load(g, i) * slope(i));
            }
          });
        });
  });
}

}  // namespace ebb::cpu

namespace ebb::kernels {

template <class F>
constinit SlotOf<decltype(cpu::pointwise_loss<F>)> PointwiseLoss<F>::forward{"loss", &cpu::pointwise_loss<F>};
template <class F>
constinit SlotOf<decltype(cpu::pointwise_loss_backward<F>)> PointwiseLoss<F>::backward{
    "loss_backward", &cpu::pointwise_loss_backward<F>};

namespace {

// A member of a template exists once something refers to it.
template <class... F>
constexpr auto slots_of(ops::List<F...>) {
  return std::array<const void*, 2 * sizeof...(F)>{&PointwiseLoss<F>::forward...,
                                                   &PointwiseLoss<F>::backward...};
}
[[gnu::used]] constinit const auto kept = slots_of(math::PointwiseLosses{});

}  // namespace

}  // namespace ebb::kernels
