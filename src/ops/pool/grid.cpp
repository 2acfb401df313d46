// grid_sampler and affine_grid_generator. For double backward, grid_sample is composed of differentiable ops:
// the formulas of math_grid.h with tensors in place of scalars.
#include <ebb/autograd/backward.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/pool.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/common/record.h"
#include "ops/pool/resample_kernels.h"

namespace ebb::ops {
namespace {

using sampling::Axis;
using sampling::Interpolation;
using sampling::Padding;

/// For every point, the position of one element of an axis, and the weight of this element. If `inside` is
/// false, the element counts as 0.
struct Tap {
  Variable place, weight, inside;
};

Variable unnormalized(const Variable& x, const Axis& axis) {
  const double middle = static_cast<double>(axis.size - 1) / 2;
  return x * (axis.align_corners ? middle : static_cast<double>(axis.size) / 2) + middle;
}

Variable clipped(const Variable& at, std::int64_t size) {
  const auto last = static_cast<double>(size - 1);
  // For `at` <= 0 and `at` >= last, the result is constant, so its derivative is 0. NaN becomes 0.
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

/// Computes grid_sample with differentiable ops, from the same elements and weights as the kernel.
Variable composed_grid_sample(const Variable& input, const Variable& grid, const SampleGeometry& geometry) {
  const std::int64_t batch = geometry.batch, channels = geometry.channels, places = geometry.places;
  // 16-bit inputs are computed in float, as in the kernels.
  const DType wide = input.scalar_type() == kDouble ? kDouble : kFloat;
  const Variable planes = input.to(wide).reshape({batch, channels, geometry.volume()});
  const Variable points = grid.to(wide).reshape({batch, places, geometry.dims});

  // Combines every tap of an axis with every combination of the previous axes.
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

}  // namespace
}  // namespace ebb::ops

namespace ebb {
namespace {

using autograd::GradList;

struct GridSamplerBackward : autograd::Node {
  autograd::SavedVariable input{this};
  autograd::SavedVariable grid{this};
  SampleGeometry geometry;
  std::string name() const override {
    return geometry.dims == 3 ? "GridSampler3DBackward0" : "GridSampler2DBackward0";
  }
  GradList apply(GradList&& grads) override {
    if (!grads[0].defined()) return GradList(2);
    const Variable x = input.unpack(), points = grid.unpack();
    return GradMode::is_enabled() ? by_ops(grads[0], x, points) : by_kernels(grads[0], x, points);
  }

 private:
  GradList by_kernels(const Variable& g, const Variable& x, const Variable& points) const {
    GradList out(2);
    const NdArray dout = ops::contiguous_array(g.array()), where = ops::contiguous_array(points.array());
    if (needs(0)) {
      const DType wide = x.dtype() == kDouble ? kDouble : kFloat;
      NdArray din = NdArray::empty(x.sizes(), wide, x.device());
      kernels::grid_sample_backward_input(x.device(), din, dout, where, geometry);
      out[0] = Variable(ops::cast_array(din, x.dtype()));
    }
    if (needs(1)) {
      NdArray dgrid = NdArray::empty(points.sizes(), points.dtype(), points.device());
      kernels::grid_sample_backward_grid(x.device(), dgrid, dout, ops::contiguous_array(x.array()), where,
                                         geometry);
      out[1] = Variable(std::move(dgrid));
    }
    return out;
  }

  // Returns gradients that are differentiable themselves: differentiates composed_grid_sample().
  GradList by_ops(const Variable& g, const Variable& x, const Variable& points) const {
    autograd::variable_list wanted;
    if (needs(0)) wanted.push_back(x);
    if (needs(1)) wanted.push_back(points);
    const autograd::variable_list found =
        autograd::grad({ops::composed_grid_sample(x, points, geometry)}, wanted, {g}, true, true, true);
    GradList out(2);
    std::size_t next = 0;
    for (std::size_t i = 0; i < 2; ++i) {
      if (!needs(i)) continue;
      // With nearest interpolation the gradient of the grid is 0.
      out[i] = found[next].defined() ? found[next] : zeros_like(wanted[next]);
      ++next;
    }
    return out;
  }
};

Variable sample(const char* op, const Variable& input, const Variable& grid, std::int64_t interpolation,
                std::int64_t padding, bool align_corners) {
  EBB_AUTOCAST_AS("grid_sampler", sample, op, input, grid, interpolation, padding, align_corners);
  const Device device = ops::common_device(op, input, grid);
  EBB_CHECK(grid.defined(), op, ": expected a grid, got an undefined tensor. Assign it before use.");
  ops::check_same_dtype(op, input, grid);
  EBB_CHECK(is_floating(input.dtype()), op, ": expected floating-point tensors, got ", input.dtype(),
            ". Convert them with .to(ebb::kFloat).");
  const std::int64_t dims = input.dim() - 2;
  EBB_CHECK(input.dim() == grid.dim() && input.size(0) == grid.size(0) && grid.size(-1) == dims, op,
            ": expected an input (N, C, ",
            dims == 3 ? "D, H, W) and a grid (N, D', H', W', 3" : "H, W) and a grid (N, H', W', 2",
            ") of one batch size, got ", input.sizes(), " and ", grid.sizes(), ".");
  EBB_CHECK(interpolation >= 0 && interpolation <= 2, op,
            ": interpolation_mode must be 0 (bilinear), 1 (nearest) or 2 (bicubic), got ", interpolation,
            ".");
  EBB_CHECK(padding >= 0 && padding <= 2, op,
            ": padding_mode must be 0 (zeros), 1 (border) or 2 (reflection), got ", padding, ".");
  SampleGeometry g;
  g.interpolation = static_cast<sampling::Interpolation>(interpolation);
  g.padding = static_cast<sampling::Padding>(padding);
  g.align_corners = align_corners;
  g.dims = static_cast<int>(dims);
  g.batch = input.size(0);
  g.channels = input.size(1);
  DimVector sizes{g.batch, g.channels};
  for (std::int64_t d = 0; d < dims; ++d) {
    g.sizes[dims - 1 - d] = input.size(d + 2);
    EBB_CHECK(input.size(d + 2) > 0, op, ": expected input to have non-empty spatial dimensions, got ",
              input.sizes(), ".");
    sizes.push_back(grid.size(d + 1));
    g.places *= grid.size(d + 1);
  }
  // Bicubic sampling in 3d, with 64 neighbours, is rare and has no kernel.
  if (dims == 3 && g.interpolation == sampling::Interpolation::bicubic)
    return ops::composed_grid_sample(input, grid, g);
  NdArray out = NdArray::empty(sizes, input.dtype(), device);
  kernels::grid_sample(device, out, ops::contiguous_array(input.array()), ops::contiguous_array(grid.array()),
                       g);
  return ops::record<GridSamplerBackward>(
      std::move(out),
      [&](GridSamplerBackward& node) {
        node.input.save(input);
        node.grid.save(grid);
        node.geometry = g;
      },
      input, grid);
}

void check_rank(const char* op, const Variable& input, std::int64_t dims) {
  EBB_CHECK(input.defined() && input.dim() == dims + 2, op, ": expected an input of ", dims + 2,
            " dimensions, got shape ", input.defined() ? input.sizes() : IntArrayRef(), ".");
}

// Returns the coordinates of an axis. -1 and 1 are the centres of the outermost elements if align_corners,
// otherwise their outer edges.
Variable coordinates(std::int64_t n, bool align_corners, const TensorOptions& options) {
  if (n <= 1) return zeros({n}, options);
  const Variable ends = linspace(-1, 1, n, options);
  return align_corners ? ends : ends * (static_cast<double>(n - 1) / static_cast<double>(n));
}

}  // namespace

Variable grid_sampler_2d(const Variable& input, const Variable& grid, std::int64_t interpolation_mode,
                         std::int64_t padding_mode, bool align_corners) {
  check_rank("grid_sampler_2d", input, 2);
  return sample("grid_sampler_2d", input, grid, interpolation_mode, padding_mode, align_corners);
}

Variable grid_sampler_3d(const Variable& input, const Variable& grid, std::int64_t interpolation_mode,
                         std::int64_t padding_mode, bool align_corners) {
  check_rank("grid_sampler_3d", input, 3);
  return sample("grid_sampler_3d", input, grid, interpolation_mode, padding_mode, align_corners);
}

Variable grid_sampler(const Variable& input, const Variable& grid, std::int64_t interpolation_mode,
                      std::int64_t padding_mode, bool align_corners) {
  EBB_CHECK(input.defined() && (input.dim() == 4 || input.dim() == 5),
            "grid_sampler: expected 4D or 5D input, got shape ",
            input.defined() ? input.sizes() : IntArrayRef(), ".");
  return sample("grid_sampler", input, grid, interpolation_mode, padding_mode, align_corners);
}

Variable affine_grid_generator(const Variable& theta, IntArrayRef size, bool align_corners) {
  const char* op = "affine_grid_generator";
  EBB_CHECK(theta.defined() && is_floating(theta.dtype()), op, ": expected a floating-point theta, got ",
            theta.defined() ? to_string(theta.dtype()) : "none", ".");
  EBB_CHECK(size.size() == 4 || size.size() == 5, op,
            ": AffineGridGenerator needs 4d (spatial) or 5d (volumetric) sizes, got ", size, ".");
  const std::int64_t dims = static_cast<std::int64_t>(size.size()) - 2;
  EBB_CHECK(theta.sizes() == IntArrayRef({size[0], dims, dims + 1}), op, ": a size of ", size,
            " needs a theta of shape [", size[0], ", ", dims, ", ", dims + 1, "], got ", theta.sizes(), ".");
  // Computes a matrix [count, dims + 1]: the coordinates of each position, and a last column of ones.
  DimVector places(size.slice(2)), grid_sizes{size[0]};
  std::int64_t count = 1;
  for (const std::int64_t n : places) {
    EBB_CHECK(n > 0, op, ": expected sizes above 0, got ", size, ".");
    count *= n;
    grid_sizes.push_back(n);
  }
  grid_sizes.push_back(dims);
  const TensorOptions options(theta.options().requires_grad(false));
  std::vector<Variable> columns;
  for (std::int64_t d = dims; d-- > 0;) {
    DimVector shape;
    shape.assign(static_cast<std::size_t>(dims), 1);
    shape[d] = places[d];
    columns.push_back(
        coordinates(places[d], align_corners, options).view(shape).expand(places).reshape({count}));
  }
  columns.push_back(ones({count}, options));
  const Variable base = stack(columns, 1).unsqueeze(0).expand({size[0], count, dims + 1});
  return base.bmm(theta.transpose(1, 2)).view(grid_sizes);
}

}  // namespace ebb
