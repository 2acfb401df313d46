// take, put, take_along_dim and unravel_index, which converts flat indices to coordinates.
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>

#include "ops/common/arrays.h"
#include "ops/common/checks.h"
#include "ops/common/kernels.h"
#include "ops/common/record.h"
#include "ops/index/common.h"

namespace ebb {

namespace {

using autograd::GradList;

struct TakeBackward : autograd::Node {
  autograd::SavedVariable index{this};
  DimVector sizes;
  std::string name() const override { return "TakeBackward0"; }
  GradList apply(GradList&& grads) override {
    const Variable zeros(ops::zeros_array(sizes, grads[0].dtype(), grads[0].device()));
    return {put_(zeros, index.unpack(), grads[0], true)};
  }
};

struct PutBackward : autograd::Node {
  autograd::SavedVariable index{this};
  DimVector source_sizes;
  bool accumulate = false;
  std::string name() const override { return "PutBackward0"; }
  GradList apply(GradList&& grads) override {
    GradList out(2);
    if (needs(0)) {
      const Variable zeros(ops::zeros_array(source_sizes, grads[0].dtype(), grads[0].device()));
      out[0] = accumulate ? grads[0] : put(grads[0], index.unpack(), zeros, false);
    }
    if (needs(1)) out[1] = reshape(take(grads[0], index.unpack()), source_sizes);
    return out;
  }
};

NdArray flat_offsets(const char* op, const Variable& x, const Variable& index) {
  ops::common_device(op, x, index);
  EBB_CHECK(index.dtype() == kLong, op, ": expected a Long tensor for index, but got ", index.dtype(), ".");
  return ops::offsets_along(op, index.array(), 0, x.numel(), 1, true);
}

Variable put_elements(const ops::Form& form, const Variable& x, const Variable& index, const Variable& source,
                      bool accumulate) {
  ops::common_device(form.op, x, source);
  ops::check_same_dtype(form.op, x, source);
  EBB_CHECK(index.numel() == source.numel(), form.op,
            ": expected source and index to have the same number of elements, got ", source.numel(), " and ",
            index.numel(), ".");
  const auto write = [&](NdArray& out) {
    const NdArray offsets = flat_offsets(form.op, x, index);
    const NdArray values = ops::contiguous_array(source.array());
    const NdArray rows = values.as_strided({values.numel()}, {1}, values.offset());
    // Positions are row-major, so an array in another layout is written through a copy.
    const NdArray flat = ops::contiguous_array(out);
    NdArray first = ops::first_element(flat);
    kernels::put_rows(out.device(), first, offsets, rows, accumulate);
    if (flat.address() != out.address()) kernels::copy(out.device(), out, flat);
  };
  return ops::record_either<PutBackward>(
      form, x, write,
      [&](PutBackward& node) {
        node.index.save(index);
        node.source_sizes = DimVector(source.sizes());
        node.accumulate = accumulate;
      },
      source);
}

}  // namespace

Variable take(const Variable& x, const Variable& index) {
  const NdArray offsets = flat_offsets("take", x, index);
  NdArray out = NdArray::empty(index.sizes(), x.dtype(), x.device());
  NdArray rows = out.as_strided({out.numel()}, {1}, 0);
  kernels::take_rows(x.device(), rows, ops::first_element(ops::contiguous_array(x.array())), offsets);
  return ops::record<TakeBackward>(
      std::move(out),
      [&](TakeBackward& node) {
        node.index.save(index);
        node.sizes = DimVector(x.sizes());
      },
      x);
}

Variable put(const Variable& x, const Variable& index, const Variable& source, bool accumulate) {
  return put_elements({"put"}, x, index, source, accumulate);
}

Variable& put_(const Variable& x, const Variable& index, const Variable& source, bool accumulate) {
  put_elements({"put_", true}, x, index, source, accumulate);
  return ops::mutable_self(x);
}

Variable take_along_dim(const Variable& x, const Variable& indices, optional<std::int64_t> dim) {
  EBB_CHECK(indices.dtype() == kLong, "take_along_dim: dtype of indices should be Long but got ",
            indices.dtype(), ".");
  if (!dim) return take_along_dim(reshape(x, {-1}), reshape(indices, {-1}), 0);
  EBB_CHECK(x.dim() == indices.dim(),
            "take_along_dim: input and indices should have the same number of dimensions, ", "but got ",
            x.dim(), " and ", indices.dim(), ".");
  const std::int64_t along = wrap_dim("take_along_dim", *dim, x.dim());
  DimVector self(x.sizes()), other(indices.sizes());
  if (x.dim() > 0) self[along] = other[along] = 1;
  self = other = broadcast_shapes("take_along_dim", self, other);
  if (x.dim() > 0) {
    self[along] = x.sizes()[along];
    other[along] = indices.sizes()[along];
  }
  // Negative indices are wrapped, because gather does not accept them.
  const Variable forwards = where(indices.lt(0), indices + (x.dim() > 0 ? x.sizes()[along] : 1), indices);
  return gather(broadcast_to(x, self), along, broadcast_to(forwards, other));
}

std::vector<Variable> unravel_index(const Variable& indices, IntArrayRef shape) {
  EBB_CHECK(is_integral(indices.dtype()), "unravel_index: expected indices of an integer dtype, got ",
            indices.dtype(), ".");
  for (const std::int64_t size : shape)
    EBB_CHECK(size > 0 || (size == 0 && indices.numel() == 0), "unravel_index: the shape ", shape,
              " has a size that is ", size < 0 ? "negative." : "0, but there are indices.");
  std::vector<Variable> coordinates(shape.size());
  std::int64_t stride = 1;
  for (std::size_t d = shape.size(); d-- > 0;) {
    const std::int64_t size = std::max<std::int64_t>(shape[d], 1);
    coordinates[d] = indices.to(kLong).floor_divide(stride).remainder(size);
    stride *= size;
  }
  return coordinates;
}

}  // namespace ebb
