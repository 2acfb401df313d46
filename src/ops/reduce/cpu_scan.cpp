// The CPU kernels linear_recurrence and running_extreme (cummax, cummin).
#include <ebb/core/visit.h>

#include "kernel/cpu/lines.h"
#include "kernel/reduce_plan.h"
#include "kernel/scan_steps.h"
#include "ops/reduce/kernels.h"

namespace ebb::cpu {
namespace {

using scan_steps::Carry;

constexpr std::int64_t kTile = 64;

template <class T, bool kLargest>
void extremes(T* values, std::int64_t* indices, const T* x, const Lines& lines) {
  using A = std::conditional_t<std::is_arithmetic_v<T>, T, float>;
  const auto takes = [](A value, A best) {
    return (kLargest ? value >= best : value <= best) || value != value;
  };
  if (lines.inner == 1)
    return for_each_line(lines, 2, [&](std::int64_t line) {
      std::int64_t at = lines.start(line), best_at = 0;
      A best = static_cast<A>(x[at]);
      for (std::int64_t i = 0; i < lines.n; ++i, ++at) {
        const A value = static_cast<A>(x[at]);
        if (takes(value, best)) best = value, best_at = i;
        values[at] = static_cast<T>(best);
        indices[at] = best_at;
      }
    });
  // Adjacent lines are processed together, so that memory is read and written in order.
  for_each_block<kTile>(lines, 2, [&](std::int64_t at, std::int64_t width) {
    A best[kTile];
    T found[kTile];
    std::int64_t best_at[kTile] = {};
    for (std::int64_t c = 0; c < width; ++c) best[c] = static_cast<A>(found[c] = x[at + c]);
    for (std::int64_t i = 0; i < lines.n; ++i, at += lines.inner)
      for (std::int64_t c = 0; c < width; ++c) {
        const A value = static_cast<A>(x[at + c]);
        if (takes(value, best[c])) best[c] = value, found[c] = x[at + c], best_at[c] = i;
        values[at + c] = found[c];
        indices[at + c] = best_at[c];
      }
  });
}

}  // namespace

void linear_recurrence(NdArray& out, const NdArray& x, const NdArray& a, std::int64_t dim, bool reverse) {
  if (x.numel() == 0) return;
  const Lines lines(x.sizes(), dim);
  visit_floating(x.dtype(), "linear_recurrence", [&]<class T> {
    using A = Carry<T>;
    T* to = out.address_as<T>();
    const T *from = x.address_as<T>(), *factor = a.address_as<T>();
    for_each_line(lines, 2, [&](std::int64_t line) {
      const std::int64_t block = line / lines.inner, lane = line % lines.inner;
      const auto at = [&](std::int64_t i, std::int64_t n) { return (block * n + i) * lines.inner + lane; };
      A carry = 0;
      for (std::int64_t step = 0; step < lines.n; ++step) {
        const std::int64_t i = reverse ? lines.n - 1 - step : step;
        const A value = static_cast<A>(from[at(i, lines.n)]);
        carry =
            step == 0 ? value : value + static_cast<A>(factor[at(reverse ? i : i - 1, lines.n - 1)]) * carry;
        to[at(i, lines.n)] = static_cast<T>(carry);
      }
    });
  });
}

void running_extreme(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool largest) {
  if (x.numel() == 0) return;
  visit_numeric(stored(x.dtype()), largest ? "cummax" : "cummin", [&]<class T> {
    (largest ? &extremes<T, true> : &extremes<T, false>)(values.address_as<T>(),
                                                         indices.address_as<std::int64_t>(),
                                                         x.address_as<T>(), Lines(x.sizes(), dim));
  });
}

}  // namespace ebb::cpu
