// The device kernels linear_recurrence and running_extreme (cummax, cummin).
#include <ebb/core/visit.h>

#include "kernel/convert.h"
#include "kernel/cuda/scan.h"
#include "kernel/reduce_plan.h"
#include "kernel/scan_steps.h"
#include "ops/reduce/kernels.h"

namespace ebb::cuda {
namespace {

using scan_steps::Carry;
using scan_steps::Order;

// The map v -> scale v + shift. The scan composes maps.
template <class A>
struct Affine {
  A scale, shift;
};

template <class T>
struct Recurrence {
  using Acc = Affine<Carry<T>>;
  T* out;
  const T *x, *a;
  Order order;
  EBB_HD Acc load(std::int64_t start, std::int64_t i) const {
    const std::int64_t step = order.reverse ? order.n - 1 - i : i;  // position in the scanned line
    const std::int64_t first =
        start / (order.n * order.stride) * (order.n - 1) * order.stride + start % order.stride;
    const Carry<T> scale =
        i == 0 ? Carry<T>(0)
               : static_cast<Carry<T>>(a[first + (order.reverse ? step : step - 1) * order.stride]);
    return {scale, static_cast<Carry<T>>(x[order.at(start, i)])};
  }
  EBB_HD Acc merge(Acc before, Acc next) const {
    return {next.scale * before.scale, next.scale * before.shift + next.shift};
  }
  EBB_HD void store(std::int64_t start, std::int64_t i, Acc value) const {
    out[order.at(start, i)] = static_cast<T>(value.shift);
  }
};

template <class A>
struct Record {
  std::int64_t place;
  A value;
};

template <class T, bool kLargest>
struct RunningExtreme {
  using Value = Compute<T>;
  using Held = std::conditional_t<sizeof(Value) < 4, std::int32_t, Value>;
  using Acc = Record<Held>;
  T* values;
  std::int64_t* indices;
  const T* x;
  Order order;
  EBB_HD Acc load(std::int64_t start, std::int64_t i) const {
    return {i, static_cast<Held>(static_cast<Value>(x[order.at(start, i)]))};
  }
  EBB_HD Acc merge(Acc before, Acc next) const {
    const bool takes =
        (kLargest ? next.value >= before.value : next.value <= before.value) || next.value != next.value;
    return takes ? next : before;
  }
  EBB_HD void store(std::int64_t start, std::int64_t i, Acc best) const {
    values[order.at(start, i)] = static_cast<T>(best.value);
    indices[order.at(start, i)] = best.place;
  }
};

}  // namespace

void linear_recurrence(NdArray& out, const NdArray& x, const NdArray& a, std::int64_t dim, bool reverse) {
  if (x.numel() == 0) return;
  const Lines lines(x.sizes(), dim);
  visit_floating(x.dtype(), "linear_recurrence", [&]<class T> {
    scan_lines(
        out.device(),
        Recurrence<T>{
            out.address_as<T>(), x.address_as<T>(), a.address_as<T>(), {lines.n, lines.inner, reverse}},
        lines);
  });
}

void running_extreme(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool largest) {
  if (x.numel() == 0) return;
  const Lines lines(x.sizes(), dim);
  const Order order{lines.n, lines.inner, false};
  visit_numeric(stored(x.dtype()), largest ? "cummax" : "cummin", [&]<class T> {
    T* const to = values.address_as<T>();
    std::int64_t* const at = indices.address_as<std::int64_t>();
    const T* const from = x.address_as<T>();
    if (largest)
      scan_lines(values.device(), RunningExtreme<T, true>{to, at, from, order}, lines);
    else
      scan_lines(values.device(), RunningExtreme<T, false>{to, at, from, order}, lines);
  });
}

}  // namespace ebb::cuda
