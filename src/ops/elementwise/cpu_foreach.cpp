// Kernels for lists of tensors on the CPU.
#include <ebb/core/visit.h>

#include "core/parallel_for.h"
#include "kernel/convert.h"
#include "kernel/reducer_kinds.h"
#include "ops/elementwise/foreach_kernels.h"
#include "ops/elementwise/math_foreach.h"

#include <atomic>
#include <cstring>
#include <vector>

namespace ebb::cpu {

namespace {

constexpr std::int64_t kPiece = 4096;  // constant, so that results do not depend on the number of threads

/// Returns the norm accumulator of one chunk of `count` elements. It is computed in many lanes, for accuracy
/// and for vectorization.
template <class T, reducers::NormKind kKind>
double piece_norm(const reducers::Norm<T, kKind>& op, const T* x, std::int64_t count) {
  constexpr int kLanes = 16;
  using Acc = typename reducers::Norm<T, kKind>::Acc;
  Acc lanes[kLanes];
  for (Acc& lane : lanes) lane = op.identity();
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (int j = 0; j < kLanes; ++j) lanes[j] = op.merge(lanes[j], op.load(x[i + j], 0));
  for (; i < count; ++i) lanes[0] = op.merge(lanes[0], op.load(x[i], 0));
  reducers::Norm<double, kKind> total;
  double result = static_cast<double>(lanes[0]);
  for (int j = 1; j < kLanes; ++j) result = total.merge(result, static_cast<double>(lanes[j]));
  return result;
}

template <class T, reducers::NormKind kKind>
void norm_of(NdArray& out, const EntryList& list, double p) {
  reducers::Norm<T, kKind> op;
  reducers::Norm<double, kKind> total;
  op.p = total.p = p;
  double result = total.identity();
  std::vector<double> pieces;
  for (const TensorEntry& entry : list.entries) {
    const T* const x = static_cast<const T*>(entry.at[0]);
    pieces.resize(static_cast<std::size_t>((entry.count + kPiece - 1) / kPiece));
    parallel_for(0, static_cast<std::int64_t>(pieces.size()), kGrain / kPiece,
                 [&](std::int64_t begin, std::int64_t end) {
                   for (std::int64_t i = begin; i < end; ++i)
                     pieces[static_cast<std::size_t>(i)] =
                         piece_norm(op, x + i * kPiece, std::min(kPiece, entry.count - i * kPiece));
                 });
    for (const double piece : pieces) result = total.merge(result, piece);
  }
  *out.address_as<Compute<T>>() = static_cast<Compute<T>>(total.finish(result));
}

template <class T, class F>
void each_element(const EntryList& list, const F& f) {
  for (const TensorEntry& entry : list.entries) {
    T* const x = static_cast<T*>(entry.at[0]);
    parallel_for(0, entry.count, kGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) x[i] = static_cast<T>(f(static_cast<Compute<T>>(x[i])));
    });
  }
}

}  // namespace

void list_norm(NdArray& out, const EntryList& list, double p) {
  visit_floating(list.dtype, "norm", [&]<class T> {
    reducers::with_norm_kind(p, [&]<reducers::NormKind kKind> { norm_of<T, kKind>(out, list, p); });
  });
}

void list_scale_to_norm(const EntryList& list, const NdArray& norm, double max_norm) {
  visit_floating(list.dtype, "clip_grad_norm_", [&]<class T> {
    using C = Compute<T>;
    const C factor = math::clip_factor(*norm.address_as<C>(), C(max_norm));
    if (factor == C(1)) return;
    each_element<T>(list, [=](C x) { return x * factor; });
  });
}

void list_clamp(const EntryList& list, double low, double high) {
  visit_floating(list.dtype, "clip_grad_value_", [&]<class T> {
    using C = Compute<T>;
    const C l = C(low), h = C(high);
    each_element<T>(list, [=](C x) { return math::clamp_keeping_nan(x, l, h); });
  });
}

void list_zero(const EntryList& list) {
  for (const TensorEntry& entry : list.entries)
    if (entry.count > 0)
      std::memset(entry.at[0], 0, static_cast<std::size_t>(entry.count * element_size(list.dtype)));
}

void list_lerp(const EntryList& list, double weight) {
  visit_floating(list.dtype, "lerp_", [&]<class T> {
    using C = Compute<T>;
    const C share = static_cast<C>(weight);
    for (const TensorEntry& entry : list.entries) {
      T* const a = static_cast<T*>(entry.at[0]);
      const T* const b = static_cast<const T*>(entry.at[1]);
      parallel_for(0, entry.count, kGrain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i)
          a[i] = static_cast<T>(math::lerp(static_cast<C>(a[i]), static_cast<C>(b[i]), share));
      });
    }
  });
}

void list_unscale(const EntryList& list, NdArray& found_inf, const NdArray& inverse_scale) {
  const float factor = *inverse_scale.address_as<float>();
  std::atomic<bool> found = false;
  visit_floating(list.dtype, "unscale_", [&]<class T> {
    using C = Compute<T>;
    for (const TensorEntry& entry : list.entries) {
      T* const x = static_cast<T*>(entry.at[0]);
      parallel_for(0, entry.count, kGrain, [&](std::int64_t begin, std::int64_t end) {
        bool finite = true;
        for (std::int64_t i = begin; i < end; ++i) {
          const C value = static_cast<C>(x[i]);
          finite &= math::is_finite(value);
          x[i] = static_cast<T>(value * static_cast<C>(factor));
        }
        if (!finite) found.store(true, std::memory_order_relaxed);
      });
    }
  });
  if (found) *found_inf.address_as<float>() = 1;
}

void update_scale(NdArray& scale, NdArray& tracker, const NdArray& found_inf, double growth_factor,
                  double backoff_factor, std::int32_t growth_interval) {
  math::next_scale(*scale.address_as<float>(), *tracker.address_as<std::int32_t>(),
                   *found_inf.address_as<float>() != 0, growth_factor, backoff_factor, growth_interval);
}

}  // namespace ebb::cpu
