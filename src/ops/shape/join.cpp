// cat, stack, hstack, vstack, dstack, column_stack, block_diag and flatten_dense_tensors.
#include <ebb/ops/creation.h>
#include <ebb/ops/shape.h>

#include "ops/common/checks.h"
#include "ops/common/record.h"
#include "ops/shape/each.h"
#include "ops/shape/kernels.h"

namespace ebb {

namespace {

using autograd::GradList;
using Extents = SmallVector<std::int64_t, 8>;

struct CatBackward : autograd::Node {
  Extents extents;  // the size of each input along dim; -1 for an input of shape {0}, which cat ignores
  std::int64_t dim = 0;
  std::string name() const override { return "CatBackward0"; }
  GradList apply(GradList&& grads) override {
    GradList out(extents.size());
    std::int64_t start = 0;
    for (std::size_t i = 0; i < extents.size(); ++i) {
      if (extents[i] < 0) continue;
      if (needs(i)) out[i] = slice(grads[0], dim, start, start + extents[i]);
      start += extents[i];
    }
    return out;
  }
};

struct StackBackward : autograd::Node {
  std::int64_t dim = 0;
  std::string name() const override { return "StackBackward0"; }
  GradList apply(GradList&& grads) override {
    GradList out(num_outputs());
    for (std::size_t i = 0; i < out.size(); ++i)
      if (needs(i)) out[i] = select(grads[0], dim, static_cast<std::int64_t>(i));
    return out;
  }
};

DType common_dtype(TensorList tensors) {
  DType dtype = tensors[0].dtype();
  for (const Variable& x : tensors) dtype = promote_types(dtype, x.dtype());
  return dtype;
}

void check_devices(const char* op, TensorList tensors) {
  for (const Variable& x : tensors) ops::common_device(op, tensors[0], x);
}

NdArray as_dtype(const Variable& x, DType dtype) {
  return x.dtype() == dtype ? x.array() : to(Variable(x.array()), dtype).array();
}

// Returns x with a dimension of size 1 before `dim`.
NdArray with_dim(const NdArray& x, std::int64_t dim) {
  DimVector sizes(x.sizes()), strides(x.strides());
  sizes.insert(sizes.begin() + dim, 1);
  strides.insert(strides.begin() + dim, 1);
  return x.as_strided(sizes, strides, x.offset());
}

bool counts_as_nothing(const Variable& x) { return x.dim() == 1 && x.numel() == 0; }

}  // namespace

Variable cat(TensorList tensors, std::int64_t dim) {
  EBB_CHECK(!tensors.empty(), "cat: expected a non-empty list of tensors.");
  check_devices("cat", tensors);
  const Variable* first = &tensors[0];
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    EBB_CHECK(tensors[i].dim() > 0, "cat: zero-dimensional tensor (at position ",
              static_cast<std::int64_t>(i), ") cannot be concatenated. Use stack.");
    if (counts_as_nothing(*first) && !counts_as_nothing(tensors[i])) first = &tensors[i];
  }
  dim = counts_as_nothing(*first)
            ? 0
            : wrap_dim("cat", dim, first->dim());  // an ignored tensor permits any `dim`
  DimVector sizes(first->sizes());
  sizes[dim] = 0;
  Extents extents;
  for (std::size_t i = 0; i < tensors.size(); ++i) {
    const Variable& x = tensors[i];
    if (counts_as_nothing(x)) {
      extents.push_back(first->dim() == 1 ? 0 : -1);
      continue;
    }
    EBB_CHECK(x.dim() == first->dim(), "cat: tensors must have the same number of dimensions, got ",
              first->dim(), " and ", x.dim(), " (shapes ", first->sizes(), " and ", x.sizes(), ").");
    for (std::int64_t d = 0; d < x.dim(); ++d)
      EBB_CHECK(d == dim || x.sizes()[d] == sizes[d], "cat: sizes of tensors must match except in dimension ",
                dim, ". Expected size ", sizes[d], " but got size ", x.sizes()[d], " for tensor number ",
                static_cast<std::int64_t>(i), " in the list (shapes ", first->sizes(), " and ", x.sizes(),
                ").");
    extents.push_back(x.sizes()[dim]);
    sizes[dim] += x.sizes()[dim];
  }
  const DType dtype = common_dtype(tensors);
  NdArray out = NdArray::empty(sizes, dtype, first->device());
  std::vector<NdArray> pieces;
  for (std::size_t i = 0; i < tensors.size(); ++i)
    if (extents[i] > 0) pieces.push_back(as_dtype(tensors[i], dtype));
  if (out.numel() > 0) kernels::join(out.device(), out, pieces, dim);
  return ops::record<CatBackward>(
      std::move(out),
      [&](CatBackward& node) {
        node.extents = std::move(extents);
        node.dim = dim;
      },
      tensors);
}

Variable stack(TensorList tensors, std::int64_t dim) {
  EBB_CHECK(!tensors.empty(), "stack: expects a non-empty list of tensors.");
  check_devices("stack", tensors);
  dim = wrap_dim("stack", dim, tensors[0].dim() + 1);
  DimVector sizes(tensors[0].sizes());
  for (std::size_t i = 1; i < tensors.size(); ++i)
    EBB_CHECK(tensors[i].sizes() == tensors[0].sizes(),
              "stack: expects each tensor to be equal size, but got ", tensors[0].sizes(), " at entry 0 and ",
              tensors[i].sizes(), " at entry ", static_cast<std::int64_t>(i), ".");
  sizes.insert(sizes.begin() + dim, static_cast<std::int64_t>(tensors.size()));
  const DType dtype = common_dtype(tensors);
  NdArray out = NdArray::empty(sizes, dtype, tensors[0].device());
  std::vector<NdArray> pieces;
  for (const Variable& x : tensors) pieces.push_back(with_dim(as_dtype(x, dtype), dim));
  if (out.numel() > 0) kernels::join(out.device(), out, pieces, dim);
  return ops::record<StackBackward>(std::move(out), [&](StackBackward& node) { node.dim = dim; }, tensors);
}

Variable hstack(TensorList tensors) {
  EBB_CHECK(!tensors.empty(), "hstack: expects a non-empty list of tensors.");
  const std::vector<Variable> wide = atleast_1d(tensors);
  return cat(wide, wide[0].dim() == 1 ? 0 : 1);
}

Variable vstack(TensorList tensors) {
  EBB_CHECK(!tensors.empty(), "vstack: expects a non-empty list of tensors.");
  return cat(atleast_2d(tensors), 0);
}

Variable dstack(TensorList tensors) {
  EBB_CHECK(!tensors.empty(), "dstack: expects a non-empty list of tensors.");
  return cat(atleast_3d(tensors), 2);
}

Variable column_stack(TensorList tensors) {
  EBB_CHECK(!tensors.empty(), "column_stack: expects a non-empty list of tensors.");
  return hstack(
      ops::each(tensors, [](const Variable& x) { return x.dim() <= 1 ? reshape(x, {x.numel(), 1}) : x; }));
}

Variable block_diag(TensorList tensors) {
  EBB_CHECK(!tensors.empty(), "block_diag: expects a non-empty list of tensors.");
  const std::vector<Variable> blocks = ops::each(tensors, [](const Variable& x) {
    EBB_CHECK(x.dim() <= 2, "block_diag: input tensors must have 2 or fewer dimensions, got ", x.dim(), ".");
    return x.dim() == 2 ? x : reshape(x, {1, x.numel()});
  });
  std::int64_t columns = 0, left = 0;
  for (const Variable& x : blocks) columns += x.size(1);
  std::vector<Variable> rows;
  for (const Variable& x : blocks) {
    rows.push_back(constant_pad_nd(x, {left, columns - left - x.size(1)}));
    left += x.size(1);
  }
  return cat(rows, 0);
}

Variable flatten_dense_tensors(TensorList tensors) {
  EBB_CHECK(!tensors.empty(), "flatten_dense_tensors: expects a non-empty list of tensors.");
  for (const Variable& x : tensors)
    EBB_CHECK(x.dtype() == tensors[0].dtype(),
              "flatten_dense_tensors: the tensors must be of one dtype, got ", tensors[0].dtype(), " and ",
              x.dtype(), ".");
  if (tensors.size() == 1) return reshape(tensors[0], {-1});
  return cat(ops::each(tensors, [](const Variable& x) { return reshape(x, {-1}); }), 0);
}

std::vector<Variable> unflatten_dense_tensors(const Variable& flat, TensorList tensors) {
  std::int64_t count = 0, at = 0;
  for (const Variable& x : tensors) count += x.numel();
  EBB_CHECK(flat.dim() == 1 && flat.numel() >= count,
            "unflatten_dense_tensors: flat must be a vector of at least ", count, " elements, got shape ",
            flat.sizes(), ".");
  return ops::each(tensors, [&](const Variable& x) {
    // An empty result has its own memory, so that it does not overwrite the other results when it is resized.
    if (x.numel() == 0) return empty(x.sizes(), flat.options());
    at += x.numel();
    return view(narrow(flat, 0, at - x.numel(), x.numel()), x.sizes());
  });
}

}  // namespace ebb
