// as_strided: views with any geometry, and their gradient.
#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/dims.h"
#include "ops/common/kernels.h"
#include "ops/common/record.h"
#include "ops/common/views.h"
#include "ops/shape/kernels.h"

#include <algorithm>
#include <numeric>

namespace ebb {

namespace {

using autograd::GradList;

struct Geometry {
  DimVector sizes, strides;
  std::int64_t offset = 0;

  explicit Geometry(const NdArray& x) : sizes(x.sizes()), strides(x.strides()), offset(x.offset()) {}
  Geometry() = default;
  std::int64_t numel() const { return checked_numel(sizes); }
  std::int64_t end() const {  // the index after the last element that the view contains
    if (numel() == 0) return offset;
    std::int64_t last = offset;
    for (std::size_t d = 0; d < sizes.size(); ++d) last += (sizes[d] - 1) * strides[d];
    return last + 1;
  }
  // Returns whether two indices may refer to the same element. It may also return true if all indices refer
  // to different elements.
  bool may_overlap() const {
    if (numel() <= 1) return false;
    DimVector order(sizes.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(), [&](auto a, auto b) { return strides[a] < strides[b]; });
    std::int64_t reach = 0;
    for (const std::int64_t d : order) {
      if (sizes[d] == 1) continue;
      if (strides[d] <= reach) return true;
      reach += (sizes[d] - 1) * strides[d];
    }
    return false;
  }
  NdArray on(const NdArray& memory, std::int64_t base) const {
    return memory.as_strided(sizes, strides, offset - base);
  }
};

// Computes memory[geometry] += values. If the geometry may overlap itself, the function first sums values
// over the dimensions of stride 0. It then calls itself for each index of the shortest dimension, with the
// other dimensions. Thus no single addition writes an element twice.
void add_through(const NdArray& memory, Geometry geometry, std::int64_t base, NdArray values) {
  if (!geometry.may_overlap()) {
    NdArray place = geometry.on(memory, base);
    return kernels::accumulate(memory.device(), place, values);
  }
  DimVector repeated;  // dimensions of stride 0
  for (std::size_t d = 0; d < geometry.sizes.size(); ++d)
    if (geometry.sizes[d] > 1 && geometry.strides[d] == 0) {
      repeated.push_back(static_cast<std::int64_t>(d));
      geometry.sizes[d] = 1;
    }
  if (!repeated.empty())
    return add_through(memory, geometry, base, sum(Variable(values), repeated, true).array());
  std::size_t walked = 0;  // the shortest dimension with more than one element
  for (std::size_t d = 0; d < geometry.sizes.size(); ++d)
    if (geometry.sizes[d] > 1 && (geometry.sizes[walked] == 1 || geometry.sizes[d] < geometry.sizes[walked]))
      walked = d;
  const std::int64_t size = geometry.sizes[walked], stride = geometry.strides[walked];
  geometry.sizes.erase(geometry.sizes.begin() + walked);
  geometry.strides.erase(geometry.strides.begin() + walked);
  for (std::int64_t i = 0; i < size; ++i, geometry.offset += stride)
    add_through(memory, geometry, base, ops::select_array(values, static_cast<std::int64_t>(walked), i));
}

Variable as_strided_backward(const Variable& grad, const Geometry& input, const Geometry& output);
Variable as_strided_backward_transposed(const Variable& v, const Geometry& input, const Geometry& output);

struct AsStridedBackward : autograd::Node {
  Geometry input, output;
  std::string name() const override { return "AsStridedBackward0"; }
  GradList apply(GradList&& grads) override { return {as_strided_backward(grads[0], input, output)}; }
};

struct AsStridedInPlaceBackward : AsStridedBackward {
  std::string name() const override { return "AsStridedBackward1"; }
};

struct AsStridedBackwardBackward : autograd::Node {
  Geometry input, output;
  std::string name() const override { return "AsStridedBackwardBackward0"; }
  GradList apply(GradList&& grads) override {
    return {as_strided_backward_transposed(grads[0], input, output)};
  }
};

struct AsStridedTransposedBackward : autograd::Node {
  Geometry input, output;
  std::string name() const override { return "AsStridedTransposedBackward0"; }
  GradList apply(GradList&& grads) override { return {as_strided_backward(grads[0], input, output)}; }
};

struct Span {
  std::int64_t base, cells;
  Span(const Geometry& a, const Geometry& b)
      : base(std::min(a.offset, b.offset)), cells(std::max({a.end(), b.end(), base}) - base) {}
};

// Divides each value by the number of indices that refer to the same element of memory as the index of the
// value. These indices share a gradient evenly, as in torch.
NdArray divided_by_count(const NdArray& values, const Geometry& geometry, std::int64_t base,
                         std::int64_t cells) {
  if (!geometry.may_overlap()) return values;
  const NdArray count = ops::zeros_array({cells}, values.dtype(), values.device());
  const NdArray one = ops::scalar_array(1, values.dtype(), values.device());
  add_through(count, geometry, base, one.expand(geometry.sizes));
  return div(Variable(values), Variable(geometry.on(count, base))).array();
}

// Adds the gradient to zeros through the output's geometry, and reads the sums through the input's geometry.
// If the input overlaps itself, divided_by_count() divides the sums.
Variable as_strided_backward(const Variable& grad, const Geometry& input, const Geometry& output) {
  const Span span(input, output);
  const DType wide = ops::wide_dtype(grad.dtype());
  const NdArray memory = ops::zeros_array({span.cells}, wide, grad.device());
  add_through(memory, output, span.base, ops::cast_array(grad.array(), wide).expand(output.sizes));
  NdArray seen = divided_by_count(input.on(memory, span.base), input, span.base, span.cells);
  return ops::record<AsStridedBackwardBackward>(
      ops::contiguous_array(seen, {grad.dtype()}),
      [&](AsStridedBackwardBackward& node) {
        node.input = input;
        node.output = output;
      },
      grad);
}

// The transpose of as_strided_backward(), which is also a linear map.
Variable as_strided_backward_transposed(const Variable& v, const Geometry& input, const Geometry& output) {
  const Span span(input, output);
  const DType wide = ops::wide_dtype(v.dtype());
  const NdArray memory = ops::zeros_array({span.cells}, wide, v.device());
  add_through(memory, input, span.base,
              divided_by_count(ops::cast_array(v.array(), wide), input, span.base, span.cells));
  return ops::record<AsStridedTransposedBackward>(
      ops::contiguous_array(output.on(memory, span.base), {v.dtype()}),
      [&](AsStridedTransposedBackward& node) {
        node.input = input;
        node.output = output;
      },
      v);
}

Geometry checked_geometry(const char* op, const Variable& x, IntArrayRef size, IntArrayRef stride,
                          optional<std::int64_t> storage_offset) {
  Geometry g;
  g.sizes = DimVector(size);
  g.strides = DimVector(stride);
  g.offset = storage_offset.value_or(x.array().offset());
  const std::int64_t needed = checked_extent(op, size, stride, g.offset) * x.element_size();
  EBB_CHECK(static_cast<std::size_t>(needed) <= x.array().storage()->bytes(), op, ": sizes ", size,
            ", strides ", stride, " and storage offset ", g.offset, " require a storage of ", needed,
            " bytes and are out of bounds for storage of size ",
            static_cast<std::int64_t>(x.array().storage()->bytes()), ".");
  if (detail::Recorder* recorder = detail::recorder()) [[unlikely]]
    recorder->reaches(x.array(), needed, !storage_offset);
  return g;
}

}  // namespace

Variable as_strided(const Variable& x, IntArrayRef size, IntArrayRef stride,
                    optional<std::int64_t> storage_offset) {
  Geometry g = checked_geometry("as_strided", x, size, stride, storage_offset);
  return ops::view_of<AsStridedBackward>(x, x.array().as_strided(g.sizes, g.strides, g.offset),
                                         [&](AsStridedBackward& node) {
                                           node.input = Geometry(x.array());
                                           node.output = std::move(g);
                                         });
}

Variable& as_strided_(const Variable& x, IntArrayRef size, IntArrayRef stride,
                      optional<std::int64_t> storage_offset) {
  Geometry g = checked_geometry("as_strided_", x, size, stride, storage_offset);
  const bool inside = x.is_contiguous() && g.offset >= x.array().offset() &&
                      checked_extent("as_strided_", size, stride, g.offset) <= x.array().offset() + x.numel();
  return ops::reshape_in_place<AsStridedInPlaceBackward>(
      x, "as_strided_", x.array().as_strided(g.sizes, g.strides, g.offset),
      [&](AsStridedInPlaceBackward& node) {
        node.input = Geometry(x.array());
        node.output = std::move(g);
      },
      inside ? ops::Elements::kept : ops::Elements::may_be_new);
}

}  // namespace ebb
