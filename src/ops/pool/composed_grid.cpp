// grid_sample composed of differentiable ops: the formulas of math_grid.h with tensors in place of scalars.
#include "ops/pool/composed_grid.h"

#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/shape.h>

namespace ebb::ops {
namespace {

using sampling::Axis;
using sampling::Interpolation;
using sampling::Padding;

/// One element of an axis for every point, and its weight. If `inside` is false, its value is 0 instead.
struct Tap {
  Variable place, weight, inside;
};

Variable unnormalized(const Variable& x, const Axis& axis) {
  const double middle = static_cast<double>(axis.size - 1) / 2;
  return x * (axis.align_corners ? middle : static_cast<double>(axis.size) / 2) + middle;
}

Variable clipped(const Variable& at, std::int64_t size) {
  const auto last = static_cast<double>(size - 1);
  // At the edges and beyond, the result does not depend on x; NaN becomes 0.
  const Variable edge = at.detach().nan_to_num(0.0).clamp(0, last);
  return where(at.gt(0).logical_and(at.lt(last)), at, edge);
}

Variable reflected(const Variable& at, double low, double high) {
  const double span = high - low;
  if (span == 0) return zeros_like(at);
  const Variable distance = (at - low).abs();
  const Variable turns = (distance.detach() / span).floor();
  const Variable extra = distance - turns * span;
  const Variable odd = turns.remainder(2).ne(0);
  return where(odd, span - extra, extra) + low;
}

Variable padded(const Variable& at, const Axis& axis) {
  if (axis.padding == Padding::zeros) return at;
  const auto size = static_cast<double>(axis.size);
  const bool mirrors = axis.padding == Padding::reflection;
  const Variable within = !mirrors             ? at
                          : axis.align_corners ? reflected(at, 0, size - 1)
                                               : reflected(at, -0.5, size - 0.5);
  return clipped(within, axis.size);
}

Tap tap(const Variable& at, Variable weight, std::int64_t size) {
  Variable inside = at.ge(0).logical_and(at.lt(static_cast<double>(size)));
  return {where(inside, at, zeros_like(at)).to(kLong), std::move(weight), std::move(inside)};
}

Variable keys_near(const Variable& d) { return (d * 1.25 - 2.25) * d * d + 1; }
Variable keys_far(const Variable& d) { return ((d * -0.75 + 3.75) * d - 6) * d + 3; }

std::vector<Tap> taps_at(const Variable& x, const Axis& axis, Interpolation between) {
  const Variable free = unnormalized(x, axis);
  if (between == Interpolation::bicubic) {
    const Variable low = free.detach().floor(), part = free - low;
    const Variable weights[] = {keys_far(part + 1), keys_near(part), keys_near(1 - part), keys_far(2 - part)};
    std::vector<Tap> taps;
    for (int k = 0; k < 4; ++k)
      taps.push_back(tap(padded(low + (k - 1), axis).round(), weights[k], axis.size));
    return taps;
  }
  const Variable at = padded(free, axis);
  if (between == Interpolation::nearest) return {tap(at.detach().round(), ones_like(at).detach(), axis.size)};
  const Variable low = at.detach().floor(), part = at - low;
  return {tap(low, 1 - part, axis.size), tap(low + 1, part, axis.size)};
}

}  // namespace

Variable composed_grid_sample(const Variable& input, const Variable& grid, const SampleGeometry& geometry) {
  const std::int64_t batch = geometry.batch, channels = geometry.channels, places = geometry.places;
  // 16-bit inputs are computed in float, as in the kernels.
  const DType wide = input.scalar_type() == kDouble ? kDouble : kFloat;
  const Variable planes = input.to(wide).reshape({batch, channels, geometry.volume()});
  const Variable points = grid.to(wide).reshape({batch, places, geometry.dims});

  // Combines every tap of an axis with every combination of the axes before it.
  std::vector<Tap> all{{zeros({1, 1}, planes.options().dtype(kLong)), ones({1, 1}, planes.options()),
                        ones({1, 1}, planes.options().dtype(kBool))}};
  std::int64_t stride = 1;
  for (int d = 0; d < geometry.dims; ++d) {
    const Axis axis{geometry.sizes[d], geometry.padding, geometry.align_corners};
    std::vector<Tap> more;
    for (const Tap& next : taps_at(points.select(2, d), axis, geometry.interpolation))
      for (const Tap& one : all)
        more.push_back(
            {one.place + next.place * stride, one.weight * next.weight, one.inside.logical_and(next.inside)});
    all = std::move(more);
    stride *= axis.size;
  }

  Variable sum = zeros({batch, channels, places}, planes.options());
  for (const Tap& one : all) {
    const Variable place = one.place.unsqueeze(1).expand({batch, channels, places});
    const Variable value = planes.gather(2, place).masked_fill(one.inside.logical_not().unsqueeze(1), 0);
    sum = sum + value * one.weight.unsqueeze(1);
  }
  DimVector sizes{batch, channels};
  for (int d = 0; d < geometry.dims; ++d) sizes.push_back(grid.size(d + 1));
  return sum.view(sizes).to(input.scalar_type());
}

}  // namespace ebb::ops
