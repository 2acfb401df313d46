// CPU kernels of the pointwise losses and their slots. Each file that includes this header instantiates some
// of them.
#pragma once

#include <ebb/core/visit.h>

#include "core/parallel_for.h"
#include "kernel/convert.h"
#include "kernel/cpu/lane_functions.h"
#include "kernel/levels.h"
#include "ops/loss/kernels.h"

#include <algorithm>
#include <array>
#include <vector>

namespace ebb::cpu {

namespace pointwise {

// The number of elements of a partial sum. It does not depend on the number of threads.
inline constexpr std::int64_t kPiece = 4096;
inline constexpr int kSums = 16;  // independent partial sums, so that the compiler can vectorize

template <class T>
using Compute = std::conditional_t<is_half_v<T>, float, T>;

// The compiler vectorizes the loops of losses that only add and multiply. Losses with logarithms and
// exponentials use vectors explicitly.
template <class F>
constexpr bool runs_in_lanes = EBB_LIBMVEC != 0 && math::kIsOf<F, math::LogarithmicLosses>;

/// Scalar unit: processes one element at a time.
template <class C>
struct ScalarUnit {
  using Values = C;
  static constexpr int kCount = 1;
  template <class T>
  static C load(const T* x, std::int64_t) {
    return static_cast<C>(*x);
  }
  template <class T>
  static void store(C value, T* out, std::int64_t) {
    *out = static_cast<T>(value);
  }
  static void add(C value, C* sums) { *sums += value; }
};

#if EBB_LIBMVEC
/// Vector unit: processes a register of elements, of which `n` are valid.
template <class C>
struct VectorUnit {
  using Values = Lanes<C>;
  static constexpr int kCount = Lanes<C>::kCount;
  template <class T>
  static Lanes<C> load(const T* x, std::int64_t n) {
    if constexpr (std::is_same_v<T, C>) {
      return Lanes<C>::load(x, n);
    } else {
      C numbers[kCount];
      for (int i = 0; i < kCount; ++i) numbers[i] = static_cast<C>(x[i < n ? i : 0]);
      return Lanes<C>::load(numbers, kCount);
    }
  }
  template <class T>
  static void store(const Lanes<C>& values, T* out, std::int64_t n) {
    if constexpr (std::is_same_v<T, C>)
      values.store(out, n);
    else
      for (int i = 0; i < kCount && i < n; ++i) out[i] = static_cast<T>(values.v[i]);
  }
  static void add(const Lanes<C>& values, C* sums) {
    (Lanes<C>::load(sums, kCount) + values).store(sums, kCount);
  }
};
template <class F, class C>
using UnitOf = std::conditional_t<runs_in_lanes<F>, VectorUnit<C>, ScalarUnit<C>>;
#else
template <class F, class C>
using UnitOf = ScalarUnit<C>;
#endif

template <class T>
struct Inputs {
  const T *x, *y, *weight, *pos_weight;
  explicit Inputs(const kernels::LossInputs& in)
      : x(in.x.address_as<T>()),
        y(in.y.address_as<T>()),
        weight(in.weight.defined() ? in.weight.address_as<T>() : nullptr),
        pos_weight(in.pos_weight.defined() ? in.pos_weight.address_as<T>() : nullptr) {}
};

/// Calls body(value_at), where value_at(i, n) returns w f(x, y) of the n elements from i on. n is at most the
/// size of a unit. The function is specialized for calls with and without weights.
template <class Unit, class T, class At, class Body>
void with_weights(const Inputs<T>& in, const At& at, Body&& body) {
  using V = typename Unit::Values;
  if (!in.weight && !in.pos_weight)
    body([&](std::int64_t i, std::int64_t n) {
      return V(at(Unit::load(in.x + i, n), Unit::load(in.y + i, n), V(Compute<T>(1))));
    });
  else
    body([&](std::int64_t i, std::int64_t n) {
      const V positive = in.pos_weight ? Unit::load(in.pos_weight + i, n) : V(Compute<T>(1));
      const V value = at(Unit::load(in.x + i, n), Unit::load(in.y + i, n), positive);
      return in.weight ? V(value * Unit::load(in.weight + i, n)) : value;
    });
}

/// Returns the sum of elements [begin, end). Element begin + k is added to partial sum k % kSums. The last
/// (end - begin) % kSums elements are added directly to the total.
template <class Unit, class C, class At>
double sum_of(const At& value, std::int64_t begin, std::int64_t end) {
  C sums[kSums] = {};
  std::int64_t i = begin;
  for (; i + kSums <= end; i += kSums)
    for (int at = 0; at < kSums; at += Unit::kCount) Unit::add(value(i + at, Unit::kCount), sums + at);
  double total = 0;
  for (; i < end; i += Unit::kCount) {
    C rest[Unit::kCount];
    Unit::store(value(i, end - i), rest, Unit::kCount);
    for (int k = 0; k < Unit::kCount && i + k < end; ++k) total += rest[k];
  }
  for (const C sum : sums) total += sum;
  return total;
}

}  // namespace pointwise

template <class F>
void pointwise_loss(NdArray& out, const F& f, const kernels::LossInputs& in, kernels::LossReduction how) {
  using namespace pointwise;
  visit_floating(in.x.dtype(), "loss", [&]<class T> {
    using C = Compute<T>;
    using Unit = UnitOf<F, C>;
    using V = typename Unit::Values;
    const std::int64_t n = in.x.numel();
    T* const o = out.address_as<T>();
    with_weights<Unit>(
        Inputs<T>(in), [&](V x, V y, V p) { return f.template value<V>(x, y, p); },
        [&](const auto& value) {
          if (!how.reduced)
            return parallel_for(0, n, kGrain / 8, [&](std::int64_t begin, std::int64_t end) {
              for (std::int64_t i = begin; i < end; i += Unit::kCount)
                Unit::store(value(i, end - i), o + i, end - i);
            });
          const std::int64_t pieces = (n + kPiece - 1) / kPiece;
          std::vector<double> sums(static_cast<std::size_t>(pieces));
          parallel_for(0, pieces, 1, [&](std::int64_t first, std::int64_t last) {
            for (std::int64_t piece = first; piece < last; ++piece)
              sums[piece] = sum_of<Unit, C>(value, piece * kPiece, std::min(n, (piece + 1) * kPiece));
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
  using namespace pointwise;
  visit_floating(in.x.dtype(), "loss_backward", [&]<class T> {
    using C = Compute<T>;
    using Unit = UnitOf<F, C>;
    using V = typename Unit::Values;
    T* const o = dx.address_as<T>();
    const T* const g = grad.address_as<T>();
    const C scale = static_cast<C>(how.scale);
    with_weights<Unit>(
        Inputs<T>(in), [&](V x, V y, V p) { return f.template derivative<V>(x, y, p); },
        [&](const auto& derivative) {
          parallel_for(0, in.x.numel(), kGrain / 4, [&](std::int64_t begin, std::int64_t end) {
            const auto put = [&](const auto& factor) {
              for (std::int64_t i = begin; i < end; i += Unit::kCount)
                Unit::store(V(factor(i) * derivative(i, end - i)), o + i, end - i);
            };
            if (how.reduced)
              put([by = V(static_cast<C>(*g) * scale)](std::int64_t) { return by; });
            else
              put([g, end](std::int64_t i) { return Unit::load(g + i, end - i); });
          });
        });
  });
}

}  // namespace ebb::cpu

namespace ebb::kernels {

template <class F>
constinit SlotOf<decltype(cpu::pointwise_loss<F>)> PointwiseLoss<F>::forward{
    "loss", levels_of<cpu::pointwise_loss<F>>};
template <class F>
constinit SlotOf<decltype(cpu::pointwise_loss_backward<F>)> PointwiseLoss<F>::backward{
    "loss_backward", levels_of<cpu::pointwise_loss_backward<F>>};

/// Refers to the slots, because a static member of a template is instantiated only if code refers to it.
template <class... F>
constexpr auto slots_of(math::List<F...>) {
  return std::array<const void*, 2 * sizeof...(F)>{&PointwiseLoss<F>::forward...,
                                                   &PointwiseLoss<F>::backward...};
}

}  // namespace ebb::kernels
