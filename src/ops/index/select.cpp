// index_select and the ops that write whole slices: index_add, index_copy, index_fill.
#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>

#include "ops/common/arrays.h"
#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/common/record.h"
#include "ops/common/views.h"
#include "ops/index/common.h"

namespace ebb {

namespace {

using autograd::GradList;

Variable zeros_of(const Variable& like, IntArrayRef sizes) {
  return Variable(ops::zeros_array(sizes, like.dtype(), like.device()));
}

struct IndexSelectBackward : autograd::Node {
  autograd::SavedVariable index{this};
  DimVector sizes;
  std::int64_t dim = 0;
  std::string name() const override { return "IndexSelectBackward0"; }
  GradList apply(GradList&& grads) override {
    return {index_add_(zeros_of(grads[0], sizes), dim, index.unpack(), grads[0])};
  }
};

struct IndexWriteBackward : autograd::Node {
  autograd::SavedVariable index{this};
  DimVector source_sizes;
  std::int64_t dim = 0;
  void keep(const Variable& which, std::int64_t along, IntArrayRef sizes) {
    index.save(which);
    dim = along;
    source_sizes = DimVector(sizes);
  }
  Variable source_grad(const Variable& grad) {
    return reshape(index_select(grad, dim, index.unpack()), source_sizes);
  }
};

struct IndexAddBackward : IndexWriteBackward {
  Scalar alpha = 1;
  std::string name() const override { return "IndexAddBackward0"; }
  GradList apply(GradList&& grads) override {
    GradList out(2);
    if (needs(0)) out[0] = grads[0];
    if (needs(1)) {
      out[1] = source_grad(grads[0]);
      if (!alpha.equal(1)) out[1] = mul(out[1], alpha);
    }
    return out;
  }
};

struct IndexCopyBackward : IndexWriteBackward {
  std::string name() const override { return "IndexCopyBackward0"; }
  GradList apply(GradList&& grads) override {
    GradList out(2);
    if (needs(0)) out[0] = index_fill(grads[0], dim, index.unpack(), 0);
    if (needs(1)) out[1] = source_grad(grads[0]);
    return out;
  }
};

struct IndexFillBackward : IndexWriteBackward {
  bool from_tensor = false;
  std::string name() const override { return from_tensor ? "IndexFillBackward1" : "IndexFillBackward0"; }
  GradList apply(GradList&& grads) override {
    GradList out(num_outputs());
    if (needs(0)) out[0] = index_fill(grads[0], dim, index.unpack(), 0);
    if (from_tensor && needs(1)) {
      // A slice that the index names twice counts once, because it contains the value only once.
      const Variable none(ops::zeros_array(grads[0].sizes(), kBool, grads[0].device()));
      out[1] = sum(masked_select(grads[0], index_fill(none, dim, index.unpack(), true)));
    }
    return out;
  }
};

// The `size` slices of x along `dim`. `rest` is the first slice; slice i begins i * stride elements after the
// beginning of `rest`.
struct Slices {
  NdArray rest;
  std::int64_t dim, size, stride;

  Slices(const NdArray& x, std::int64_t along) : dim(along) {
    const NdArray wide = ops::at_least_1d(x);
    size = wide.sizes()[dim];
    stride = wide.strides()[dim];
    DimVector sizes(wide.sizes()), strides(wide.strides());
    sizes.erase(sizes.begin() + dim);
    strides.erase(strides.begin() + dim);
    rest = wide.as_strided(sizes, strides, wide.offset());
  }
};

// Returns x with dimension `dim` moved to the front.
NdArray dim_first(const NdArray& x, std::int64_t dim) {
  DimVector order{dim};
  for (std::int64_t d = 0; d < x.dim(); ++d)
    if (d != dim) order.push_back(d);
  return ops::permute_array(x, order);
}

NdArray checked_index(const char* op, const Variable& x, const Variable& index) {
  ops::common_device(op, x, index);
  EBB_CHECK_INDEX(index.dim() <= 1, op, ": index is supposed to be a vector, got shape ", index.sizes(), ".");
  return ops::long_array(op, index);
}

void check_source(const char* op, const Variable& x, const Variable& source) {
  ops::common_device(op, x, source);
  ops::check_same_dtype(op, x, source);
}

// Returns alpha * source for index_add.
Variable scaled_source(const char* op, const Variable& x, const Variable& source, const Scalar& alpha) {
  check_source(op, x, source);
  EBB_CHECK(source.dim() == x.dim(), op,
            ": source and self must have the same number of dimensions, got shapes ", source.sizes(), " and ",
            x.sizes(), ".");
  return alpha.equal(1) ? source : mul(Variable(source.array()), alpha);
}

// Returns the source of index_add and index_copy as rows to write.
NdArray source_rows(const char* op, const Variable& x, std::int64_t dim, const NdArray& index,
                    const Variable& source) {
  check_source(op, x, source);
  EBB_CHECK(source.dim() == x.dim() || (source.dim() <= 1 && x.dim() <= 1), op,
            ": source and self must have the same ", "number of dimensions, got shapes ", source.sizes(),
            " and ", x.sizes(), ".");
  const NdArray wide = ops::at_least_1d(source.array());
  EBB_CHECK_INDEX(wide.sizes()[dim] == index.numel(), op, ": number of indices (", index.numel(),
                  ") should be equal to the size of source at dimension ", dim, " (", wide.sizes()[dim],
                  ").");
  for (std::int64_t d = 0; d < x.dim(); ++d)
    EBB_CHECK(d == dim || wide.sizes()[d] == x.sizes()[d], op,
              ": source and self must have the same sizes except in dimension ", dim, ", got shapes ",
              source.sizes(), " and ", x.sizes(), ".");
  return dim_first(wide, dim);
}

auto put_slices(const char* op, std::int64_t dim, const NdArray& index, const NdArray& values, bool wraps,
                bool accumulate) {
  return [=](NdArray& out) {
    Slices slices(out, dim);
    const NdArray offsets = ops::offsets_along(op, index, dim, slices.size, slices.stride, wraps);
    kernels::put_rows(out.device(), slices.rest, offsets, values, accumulate);
  };
}

Variable add_slices(const ops::Form& form, const Variable& x, std::int64_t dim, const Variable& index,
                    const Variable& source, const Scalar& alpha) {
  dim = wrap_dim(form.op, dim, x.dim());
  const NdArray which = checked_index(form.op, x, index);
  const Variable scaled = scaled_source(form.op, x, source, alpha);
  const NdArray rows = source_rows(form.op, x, dim, which, scaled);
  return ops::record_either<IndexAddBackward>(
      form, x, put_slices(form.op, dim, which, rows, false, true),
      [&](IndexAddBackward& node) {
        node.keep(index, dim, source.sizes());
        node.alpha = alpha;
      },
      source);
}

Variable copy_slices(const ops::Form& form, const Variable& x, std::int64_t dim, const Variable& index,
                     const Variable& source) {
  dim = wrap_dim(form.op, dim, x.dim());
  const NdArray which = checked_index(form.op, x, index);
  const NdArray rows = source_rows(form.op, x, dim, which, source);
  return ops::record_either<IndexCopyBackward>(
      form, x, put_slices(form.op, dim, which, rows, false, false),
      [&](IndexCopyBackward& node) { node.keep(index, dim, source.sizes()); }, source);
}

// Fills all elements of the selected slices with one value. If the value is a tensor, `source` is that
// tensor, so that it gets a gradient; otherwise `source` is empty.
template <class Value, class... Source>
Variable fill_slices(const ops::Form& form, const Variable& x, std::int64_t dim, const Variable& index,
                     const Value& value, const Source&... source) {
  dim = wrap_dim(form.op, dim, x.dim());
  const NdArray which = checked_index(form.op, x, index);
  const NdArray number = ops::fill_value(form.op, x, value);
  const Slices slices(x.array(), dim);
  DimVector sizes{which.numel()};
  sizes.append(slices.rest.sizes().begin(), slices.rest.sizes().end());
  return ops::record_either<IndexFillBackward>(
      form, x, put_slices(form.op, dim, which, number.expand(sizes), true, false),
      [&](IndexFillBackward& node) {
        node.keep(index, dim, {});
        node.from_tensor = sizeof...(source) > 0;
      },
      source...);
}

}  // namespace

Variable index_select(const Variable& x, std::int64_t dim, const Variable& index) {
  dim = wrap_dim("index_select", dim, x.dim());
  const NdArray which = checked_index("index_select", x, index);
  Slices slices(x.array(), dim);
  const NdArray offsets = ops::offsets_along("index_select", which, dim, slices.size, slices.stride, false);
  DimVector sizes(x.sizes());
  if (x.dim() > 0)
    sizes[dim] = which.numel();
  else
    EBB_CHECK(which.numel() == 1, "index_select: a 0-d tensor needs exactly one index, got ", which.numel(),
              ".");
  NdArray out = NdArray::empty(sizes, x.dtype(), x.device());
  NdArray rows = dim_first(ops::at_least_1d(out), dim);
  kernels::take_rows(x.device(), rows, slices.rest, offsets);
  return ops::record<IndexSelectBackward>(
      std::move(out),
      [&](IndexSelectBackward& node) {
        node.index.save(index);
        node.sizes = DimVector(x.sizes());
        node.dim = dim;
      },
      x);
}

Variable index_add(const Variable& x, std::int64_t dim, const Variable& index, const Variable& source,
                   const Scalar& alpha) {
  return add_slices({"index_add"}, x, dim, index, source, alpha);
}

Variable& index_add_(const Variable& x, std::int64_t dim, const Variable& index, const Variable& source,
                     const Scalar& alpha) {
  add_slices({"index_add_", true}, x, dim, index, source, alpha);
  return ops::mutable_self(x);
}

Variable index_copy(const Variable& x, std::int64_t dim, const Variable& index, const Variable& source) {
  EBB_AUTOCAST(index_copy, x, dim, index, source);
  return copy_slices({"index_copy"}, x, dim, index, source);
}

Variable& index_copy_(const Variable& x, std::int64_t dim, const Variable& index, const Variable& source) {
  copy_slices({"index_copy_", true}, x, dim, index, source);
  return ops::mutable_self(x);
}

Variable index_fill(const Variable& x, std::int64_t dim, const Variable& index, const Scalar& value) {
  return fill_slices({"index_fill"}, x, dim, index, value);
}

Variable& index_fill_(const Variable& x, std::int64_t dim, const Variable& index, const Scalar& value) {
  fill_slices({"index_fill_", true}, x, dim, index, value);
  return ops::mutable_self(x);
}

Variable index_fill(const Variable& x, std::int64_t dim, const Variable& index, const Variable& value) {
  return fill_slices({"index_fill"}, x, dim, index, value, value);
}

Variable& index_fill_(const Variable& x, std::int64_t dim, const Variable& index, const Variable& value) {
  fill_slices({"index_fill_", true}, x, dim, index, value, value);
  return ops::mutable_self(x);
}

}  // namespace ebb
