// Ops with a mask: masked_fill, masked_select, masked_scatter and nonzero.
#include <ebb/ops/creation.h>
#include <ebb/ops/reduce.h>

#include "core/recorder.h"
#include "ops/common/arrays.h"
#include "ops/common/checks.h"
#include "ops/common/kernels.h"
#include "ops/common/record.h"
#include "ops/common/views.h"
#include "ops/index/common.h"

#include <algorithm>

namespace ebb {

namespace {

using autograd::GradList;

Variable masked_scatter_backward(const Variable& grad, const Variable& mask, IntArrayRef sizes) {
  const Variable taken = masked_select(grad, mask);
  const std::int64_t rest = checked_numel(sizes) - taken.numel();
  return view(rest > 0 ? constant_pad_nd(taken, {0, rest}, 0) : taken, sizes);
}

struct MaskedFillBackward : autograd::Node {
  autograd::SavedVariable mask{this};
  bool from_tensor = false;
  void keep(const Variable& where, bool tensor) {
    mask.save(where);
    from_tensor = tensor;
  }
  std::string name() const override { return from_tensor ? "MaskedFillBackward1" : "MaskedFillBackward0"; }
  GradList apply(GradList&& grads) override {
    GradList out(num_outputs());
    const Variable where = mask.unpack();
    if (needs(0)) out[0] = masked_fill(grads[0], where, 0);
    if (from_tensor && needs(1)) out[1] = sum(masked_select(grads[0], where));
    return out;
  }
};

struct MaskedSelectBackward : autograd::Node {
  autograd::SavedVariable mask{this};
  DimVector sizes;  // the broadcast shape of x and mask
  std::string name() const override { return "MaskedSelectBackward0"; }
  GradList apply(GradList&& grads) override {
    const Variable zeros(ops::zeros_array(sizes, grads[0].dtype(), grads[0].device()));
    return {masked_scatter_(zeros, mask.unpack(), grads[0])};
  }
};

struct MaskedScatterBackward : autograd::Node {
  autograd::SavedVariable mask{this};
  DimVector source_sizes;
  std::string name() const override { return "MaskedScatterBackward0"; }
  GradList apply(GradList&& grads) override {
    GradList out(2);
    if (needs(0)) out[0] = masked_fill(grads[0], mask.unpack(), 0);
    if (needs(1)) out[1] = masked_scatter_backward(grads[0], mask.unpack(), source_sizes);
    return out;
  }
};

NdArray bool_array(const char* op, const Variable& mask) {
  EBB_CHECK(mask.dtype() == kBool, op, ": only supports boolean masks, but got mask with dtype ",
            mask.dtype(), ". Compare (mask != 0) to get one.");
  return mask.array();
}

// Returns the indices of nonzero elements, in row-major order. The CPU kernel visits x in that order. If the
// memory of x has another order, making x contiguous first is several times faster.
NdArray nonzero_indices(const NdArray& x) {
  NdArray places;
  const std::int64_t last = x.dim() > 0 ? x.strides().back() : 0;
  bool across = false;
  for (std::int64_t d = 0; d + 1 < x.dim(); ++d)
    across = across || (x.sizes()[d] > 1 && x.strides()[d] > 0 && x.strides()[d] < last);
  kernels::nonzero(x.device(), places, across && x.device().is_cpu() ? ops::contiguous_array(x) : x);
  return places;
}

// Returns the memory offsets of the elements of `x` at which the mask is true, in row-major order. The mask
// has x's shape.
NdArray offsets_where(const NdArray& mask, const NdArray& x) {
  detail::host_access(mask);  // the result's size depends on the mask's elements
  if (x.is_contiguous()) {    // positions in a contiguous array are offsets
    const NdArray line = ops::contiguous_array(mask);
    const NdArray places = nonzero_indices(line.as_strided({line.numel()}, {1}, line.offset()));
    return places.as_strided({places.numel()}, {1}, 0);
  }
  const NdArray places = nonzero_indices(mask);
  const std::int64_t count = places.sizes()[0];
  NdArray out = NdArray::empty({count}, kLong, x.device());
  if (x.dim() == 0) {
    kernels::fill(x.device(), out, 0);
    return out;
  }
  SmallVector<NdArray, 4> columns;
  for (std::int64_t d = 0; d < x.dim(); ++d) columns.push_back(ops::select_array(places, 1, d));
  kernels::index_offsets(x.device(), out, columns, x.sizes(), x.strides(), {});
  return out;
}

void fill_where(NdArray& out, const NdArray& mask, const NdArray& value) {
  kernels::masked_fill(out.device(), out, mask.expand(out.sizes()), value);
}

// Returns a copy of x with `value` where the mask is true. If the value is a tensor, `source` is that tensor,
// so that it gets a gradient; otherwise `source` is empty.
template <class... Source>
Variable filled(const Variable& x, const Variable& mask, const NdArray& value, const Source&... source) {
  ops::common_device("masked_fill", x, mask);
  const NdArray where = bool_array("masked_fill", mask);
  const DimVector sizes = broadcast_shapes("masked_fill", x.sizes(), mask.sizes());
  NdArray out = ops::copied_array(x.array().expand(sizes));
  fill_where(out, where, value);
  return ops::record<MaskedFillBackward>(
      std::move(out), [&](MaskedFillBackward& node) { node.keep(mask, sizeof...(source) > 0); }, x,
      source...);
}

void check_mask_fits(const char* op, const Variable& x, const Variable& mask) {
  ops::common_device(op, x, mask);
  EBB_CHECK(broadcast_shapes(op, x.sizes(), mask.sizes()) == DimVector(x.sizes()), op, ": the mask of shape ",
            mask.sizes(), " does not broadcast to the shape ", x.sizes(), " of self.");
}

template <class Value, class... Source>
Variable& fill_masked_(const Variable& x, const Variable& mask, const Value& value, const Source&... source) {
  check_mask_fits("masked_fill_", x, mask);
  const NdArray number = ops::fill_value("masked_fill_", x, value);
  return ops::record_inplace<MaskedFillBackward>(
      x, "masked_fill_", [&](NdArray& out) { fill_where(out, bool_array("masked_fill_", mask), number); },
      [&](MaskedFillBackward& node) { node.keep(mask, sizeof...(source) > 0); }, source...);
}

auto scatter_where(const Variable& mask, const Variable& source) {
  return [&](NdArray& out) {
    const NdArray offsets = offsets_where(bool_array("masked_scatter", mask).expand(out.sizes()), out);
    const NdArray values = ops::contiguous_array(source.array());
    EBB_CHECK(values.numel() >= offsets.numel(), "masked_scatter: number of elements of source (",
              values.numel(), ") < number of ones in mask (", offsets.numel(), ").");
    NdArray first = ops::first_element(out);
    kernels::put_rows(out.device(), first, offsets,
                      values.as_strided({offsets.numel()}, {1}, values.offset()), false);
  };
}

auto keep_scatter(const Variable& mask, const Variable& source) {
  return [&](MaskedScatterBackward& node) {
    node.mask.save(mask);
    node.source_sizes = DimVector(source.sizes());
  };
}

}  // namespace

Variable masked_fill(const Variable& x, const Variable& mask, const Scalar& value) {
  return filled(x, mask, ops::fill_value("masked_fill", x, value));
}

Variable masked_fill(const Variable& x, const Variable& mask, const Variable& value) {
  return filled(x, mask, ops::fill_value("masked_fill", x, value), value);
}

Variable& masked_fill_(const Variable& x, const Variable& mask, const Scalar& value) {
  return fill_masked_(x, mask, value);
}

Variable& masked_fill_(const Variable& x, const Variable& mask, const Variable& value) {
  return fill_masked_(x, mask, value, value);
}

Variable masked_select(const Variable& x, const Variable& mask) {
  ops::common_device("masked_select", x, mask);
  const DimVector sizes = broadcast_shapes("masked_select", x.sizes(), mask.sizes());
  const NdArray source = x.array().expand(sizes);
  const NdArray offsets = offsets_where(bool_array("masked_select", mask).expand(sizes), source);
  NdArray out = NdArray::empty({offsets.numel()}, x.dtype(), x.device());
  kernels::take_rows(x.device(), out, ops::first_element(source), offsets);
  return ops::record<MaskedSelectBackward>(
      std::move(out),
      [&](MaskedSelectBackward& node) {
        node.mask.save(mask);
        node.sizes = sizes;
      },
      x);
}

Variable masked_scatter(const Variable& x, const Variable& mask, const Variable& source) {
  ops::common_device("masked_scatter", x, mask, source);
  ops::check_same_dtype("masked_scatter", x, source);
  const DimVector sizes = broadcast_shapes("masked_scatter", x.sizes(), mask.sizes());
  NdArray out = ops::copied_array(x.array().expand(sizes));
  scatter_where(mask, source)(out);
  return ops::record<MaskedScatterBackward>(std::move(out), keep_scatter(mask, source), x, source);
}

Variable& masked_scatter_(const Variable& x, const Variable& mask, const Variable& source) {
  check_mask_fits("masked_scatter_", x, mask);
  ops::common_device("masked_scatter_", x, source);
  ops::check_same_dtype("masked_scatter_", x, source);
  return ops::record_inplace<MaskedScatterBackward>(x, "masked_scatter_", scatter_where(mask, source),
                                                    keep_scatter(mask, source), source);
}

Variable nonzero(const Variable& x) {
  detail::host_access(x.array());
  return Variable(nonzero_indices(x.array()));
}

Variable nonzero_static(const Variable& x, std::int64_t size, std::int64_t fill_value) {
  EBB_CHECK(size >= 0, "nonzero_static: size must be non-negative, got ", size, ".");
  const Variable found = nonzero(x);
  const std::int64_t there = std::min(size, found.size(0));
  Variable out = full({size, x.dim()}, fill_value, found.options());
  out.narrow(0, 0, there).copy_(found.narrow(0, 0, there));
  return out;
}

std::vector<Variable> nonzero_numpy(const Variable& x) {
  // A 0-d tensor is treated as a 1-d tensor of one element.
  return unbind(nonzero(x.dim() > 0 ? x.detach() : unsqueeze(x.detach(), 0)), 1);
}

}  // namespace ebb
