// upsample: resizes one axis after another. Each step multiplies by a banded matrix; the gradient is computed
// with the transposed matrices.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>

#include "ops/common/checks.h"
#include "ops/common/kernels.h"
#include "ops/common/layout.h"
#include "ops/common/record.h"
#include "ops/pool/resample_kernels.h"
#include "ops/pool/upsample.h"

namespace ebb::ops {
namespace {

using resizing::AxisRule;
using resizing::Filter;

struct Resizing {
  UpsampleKind kind;
  AxisRule rules[3];
};

Variable resized(const Resizing& how, const Variable& x, bool transposed, bool is_layer);

struct UpsampleBackward : autograd::Node {
  Resizing how;
  bool transposed = false, is_layer = true;
  std::string name() const override { return is_layer ? how.kind.layer : how.kind.gradient; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    return {resized(how, grads[0], !transposed, false)};
  }
};

bool changes(const AxisRule& rule) { return rule.in != rule.out || rule.scale != 1; }

AxisTable table_of(const AxisRule& rule, DType weights, Device device) {
  AxisTable table{NdArray::empty({rule.out}, kLong, device),
                  NdArray::empty({rule.out, rule.width()}, weights, device),
                  NdArray::empty({rule.in, 2}, kLong, device)};
  kernels::axis_table(device, table, rule);
  return table;
}

// Returns the position of spatial axis d in an array of these sizes and this memory format.
AxisPosition place_of(IntArrayRef sizes, int dims, int d, MemoryFormat format) {
  AxisPosition place;
  for (int i = 0; i < dims; ++i) {
    const std::int64_t n = sizes[2 + static_cast<std::size_t>(i)];
    if (i < d) place.outer *= n;
    if (i > d) place.inner *= n;
  }
  place.outer *= sizes[0];
  (format == MemoryFormat::Contiguous ? place.outer : place.inner) *= sizes[1];
  return place;
}

NdArray resize_axes(const Resizing& how, const NdArray& x, bool transposed, MemoryFormat format) {
  const int dims = how.kind.dims;
  const auto size_after = [&](int d) { return transposed ? how.rules[d].in : how.rules[d].out; };
  const auto size_before = [&](int d) { return transposed ? how.rules[d].out : how.rules[d].in; };
  // Resizes the axes that shrink first, so that the others have fewer elements.
  int order[3], count = 0;
  for (const bool shrinking : {true, false})
    for (int d = 0; d < dims; ++d)
      if (changes(how.rules[d]) && (size_after(d) < size_before(d)) == shrinking) order[count++] = d;
  if (count == 0) {
    NdArray same = empty_in(x.sizes(), x.dtype(), x.device(), format);
    kernels::copy(x.device(), same, x);
    return same;
  }
  const DType wide = x.dtype() == kDouble ? kDouble : kFloat;
  NdArray from = x;
  DimVector sizes(x.sizes());
  for (int i = 0; i < count; ++i) {
    const int d = order[i];
    sizes[2 + static_cast<std::size_t>(d)] = size_after(d);
    NdArray to = empty_in(sizes, i + 1 == count ? x.dtype() : wide, x.device(), format);
    kernels::resize_axis(x.device(), to, from, table_of(how.rules[d], wide, x.device()),
                         place_of(sizes, dims, d, format), transposed);
    from = std::move(to);
  }
  return from;
}

Variable resized(const Resizing& how, const Variable& x, bool transposed, bool is_layer) {
  const MemoryFormat format = suggested_format(x.array());
  return record<UpsampleBackward>(
      resize_axes(how, x.detach().contiguous(format).array(), transposed, format),
      [&](UpsampleBackward& node) {
        node.how = how;
        node.transposed = transposed;
        node.is_layer = is_layer;
      },
      x);
}

// Selects elements of integer tensors, which support only the filter nearest.
Variable select_nearest(const Resizing& how, const Variable& x) {
  Variable out = x;
  for (int d = 0; d < how.kind.dims; ++d)
    if (changes(how.rules[d]))
      out = out.index_select(d + 2, Variable(table_of(how.rules[d], kFloat, x.device()).starts));
  return out.impl() == x.impl() ? x.clone() : out;
}

AxisRule rule_of(const UpsampleKind& kind, std::int64_t in, std::int64_t out, optional<double> scale,
                 bool align_corners) {
  AxisRule rule{in, out, 1, kind.filter, align_corners, kind.antialias};
  const auto share = [](std::int64_t a, std::int64_t b) {
    return static_cast<double>(a) / static_cast<double>(b);
  };
  if (align_corners)
    rule.scale = out > 1 ? share(in - 1, out - 1) : 0;
  else
    rule.scale = scale && *scale > 0 ? 1 / *scale : share(in, out);
  return rule;
}

void check_input(const UpsampleKind& kind, const Variable& x) {
  check_defined(kind.op, x);
  EBB_CHECK(x.dim() == kind.dims + 2, kind.op, ": It is expected input_size equals to ", kind.dims + 2,
            ", but got size ", x.dim(), ": shape ", x.sizes(),
            ". The first two dimensions are batch and channels.");
  EBB_CHECK(x.size(1) > 0, kind.op, ": only the batch may be empty, got shape ", x.sizes(), ".");
}

}  // namespace

Variable upsample(const UpsampleKind& kind, const Variable& x, IntArrayRef output_size,
                  std::initializer_list<optional<double>> scales, bool align_corners) {
  check_input(kind, x);
  const int dims = kind.dims;
  EBB_CHECK(output_size.size() == static_cast<std::size_t>(dims), kind.op,
            ": It is expected output_size equals to ", dims, ", but got size ", output_size, ".");
  Resizing how{kind, {}};
  for (int d = 0; d < dims; ++d) {
    const std::int64_t in = x.size(d + 2), out = output_size[d];
    EBB_CHECK(in > 0 && out > 0, kind.op, ": Input and output sizes should be greater than 0, got input ",
              x.sizes(), " and output ", output_size, ".");
    how.rules[d] = rule_of(kind, in, out, scales.begin()[d], align_corners);
  }
  if (is_floating(x.dtype())) return resized(how, x, false, true);
  if (kind.filter == Filter::nearest || kind.filter == Filter::nearest_exact) return select_nearest(how, x);
  EBB_CHECK(x.dtype() == kByte, kind.op, ": expected a floating-point or Byte input, got ", x.dtype(),
            ". Convert it with .to(ebb::kFloat).");
  return resized(how, x.to(kFloat), false, true).round().clamp(0, 255).to(kByte);
}

Variable upsample(const UpsampleKind& kind, const Variable& x, OptionalIntArrayRef output_size,
                  optional<ArrayRef<double>> scale_factors, bool align_corners) {
  check_input(kind, x);
  EBB_CHECK(output_size.has_value() != scale_factors.has_value(), kind.op,
            ": Must specify exactly one of output_size and scale_factors.");
  if (output_size) return upsample(kind, x, *output_size, {nullopt, nullopt, nullopt}, align_corners);
  const auto dims = static_cast<std::size_t>(kind.dims);
  EBB_CHECK(scale_factors->size() == dims, kind.op, ": expected ", std::uint64_t{dims},
            " scale factors, one for each axis, got ", std::uint64_t{scale_factors->size()}, ".");
  DimVector sizes;
  optional<double> scales[3];
  for (std::size_t d = 0; d < dims; ++d) {
    const double factor = (*scale_factors)[d];
    const double size = static_cast<double>(x.size(static_cast<std::int64_t>(d) + 2)) * factor;
    EBB_CHECK(size < 4.6e18, kind.op, ": the scale factor ", factor,
              " gives a size that is too large for a tensor.");  // also rejects NaN
    sizes.push_back(size < 1 ? 0 : static_cast<std::int64_t>(size));
    scales[d] = factor;
  }
  return upsample(kind, x, sizes, {scales[0], scales[1], scales[2]}, align_corners);
}

}  // namespace ebb::ops
