// view, reshape, squeeze, unsqueeze, flatten and unflatten.
#include <ebb/ops/creation.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/kernels.h"
#include "ops/common/record.h"
#include "ops/common/views.h"
#include "ops/shape/each.h"
#include "ops/shape/kernels.h"

#include <algorithm>

namespace ebb {

namespace {

using autograd::GradList;

struct ViewBackward : autograd::Node {
  DimVector sizes;
  std::string name() const override { return "ViewBackward0"; }
  GradList apply(GradList&& grads) override { return {reshape(grads[0], sizes)}; }
};

struct ReshapeAliasBackward : ViewBackward {
  std::string name() const override { return "ReshapeAliasBackward0"; }
};

struct UnsafeViewBackward : ViewBackward {
  std::string name() const override { return "UnsafeViewBackward0"; }
};

struct AliasBackward : ViewBackward {
  std::string name() const override { return "AliasBackward0"; }
};

struct SqueezeBackward : ViewBackward {
  bool one_dim = false;
  std::string name() const override { return one_dim ? "SqueezeBackward1" : "SqueezeBackward0"; }
};

// The in-place ops are separate entries in torch's table of derivatives, so the names of their nodes end with
// other numbers.
struct SqueezeInPlaceBackward : ViewBackward {
  bool one_dim = false;
  std::string name() const override { return one_dim ? "SqueezeBackward3" : "SqueezeBackward2"; }
};

struct UnsqueezeBackward : ViewBackward {
  std::string name() const override { return "UnsqueezeBackward0"; }
};

struct UnsqueezeInPlaceBackward : ViewBackward {
  std::string name() const override { return "UnsqueezeBackward1"; }
};

auto keep_sizes(const Variable& x) {
  return [&x](ViewBackward& node) { node.sizes = DimVector(x.sizes()); };
}

NdArray squeezed(const NdArray& x, std::int64_t only = -1) {
  DimVector sizes, strides;
  for (std::int64_t d = 0; d < x.dim(); ++d) {
    if (x.sizes()[d] == 1 && (only < 0 || only == d)) continue;
    sizes.push_back(x.sizes()[d]);
    strides.push_back(x.strides()[d]);
  }
  return x.as_strided(sizes, strides, x.offset());
}

NdArray squeezed(const char* op, const NdArray& x, IntArrayRef dims) {
  DimVector named(std::max<std::size_t>(x.sizes().size(), 1), 0), sizes, strides;
  for (const std::int64_t given : dims) {
    const std::int64_t d = wrap_dim(op, given, x.dim());
    EBB_CHECK(named[d]++ == 0, op, ": dim ", d, " appears multiple times in the list of dims ", dims, ".");
  }
  for (std::int64_t d = 0; d < x.dim(); ++d) {
    if (x.sizes()[d] == 1 && named[d]) continue;
    sizes.push_back(x.sizes()[d]);
    strides.push_back(x.strides()[d]);
  }
  return x.as_strided(sizes, strides, x.offset());
}

NdArray unsqueezed(const NdArray& x, std::int64_t dim) {
  DimVector sizes(x.sizes()), strides(x.strides());
  const std::int64_t stride = dim < x.dim() ? sizes[dim] * strides[dim] : 1;
  sizes.insert(sizes.begin() + dim, 1);
  strides.insert(strides.begin() + dim, stride);
  return x.as_strided(sizes, strides, x.offset());
}

}  // namespace

Variable view(const Variable& x, IntArrayRef size) {
  const DimVector sizes = ops::infer_size("view", size, x.numel());
  const optional<DimVector> strides = ops::view_strides(x.sizes(), x.strides(), sizes);
  EBB_CHECK(
      strides, "view: size ", size, " is not compatible with the sizes ", x.sizes(), " and strides ",
      x.strides(),
      " of the input (at least one dimension spans two contiguous subspaces). Use reshape(...) instead.");
  return ops::view_of<ViewBackward>(x, x.array().as_strided(sizes, *strides, x.array().offset()),
                                    keep_sizes(x));
}

Variable view_as(const Variable& x, const Variable& other) { return view(x, other.sizes()); }

Variable view(const Variable& x, DType dtype) {
  const std::int64_t from = x.element_size(), to = element_size(dtype);
  DimVector sizes(x.sizes()), strides(x.strides());
  std::int64_t offset = x.array().offset();
  if (from != to) {
    EBB_CHECK(x.dim() > 0, "view: a 0-d tensor cannot be viewed as ", dtype,
              ", whose element size differs from ", x.dtype(), "'s.");
    EBB_CHECK(strides.back() == 1, "view: the last stride must be 1 to view ", x.dtype(), " as ", dtype,
              ", got ", strides.back(), ". Call contiguous() first.");
    const std::int64_t big = std::max(from, to), small = std::min(from, to), ratio = big / small;
    if (to < from) {
      sizes.back() *= ratio;
      offset *= ratio;
      for (std::size_t d = 0; d + 1 < strides.size(); ++d) strides[d] *= ratio;
    } else {
      bool fits = sizes.back() % ratio == 0 && offset % ratio == 0;
      for (std::size_t d = 0; d + 1 < strides.size(); ++d) fits &= strides[d] % ratio == 0;
      EBB_CHECK(fits, "view: sizes ", x.sizes(), ", strides ", x.strides(), " and offset ", offset,
                " must be divisible by ", ratio, " to view ", x.dtype(), " as ", dtype, ".");
      sizes.back() /= ratio;
      offset /= ratio;
      for (std::size_t d = 0; d + 1 < strides.size(); ++d) strides[d] /= ratio;
    }
  }
  return Variable(NdArray(x.array().storage(), std::move(sizes), std::move(strides), offset, dtype));
}

Variable reshape(const Variable& x, IntArrayRef shape) {
  const DimVector sizes = ops::infer_size("reshape", shape, x.numel());
  if (const optional<DimVector> strides = ops::view_strides(x.sizes(), x.strides(), sizes))
    return ops::view_of<ReshapeAliasBackward>(x, x.array().as_strided(sizes, *strides, x.array().offset()),
                                              keep_sizes(x));
  // No other tensor refers to the copy, so the result need not be recorded as a view of the copy.
  const Variable copy = clone(x, MemoryFormat::Contiguous);
  return ops::record<UnsafeViewBackward>(
      copy.array().as_strided(sizes, contiguous_strides(sizes), copy.array().offset()), keep_sizes(copy),
      copy);
}

Variable flatten(const Variable& x, std::int64_t start_dim, std::int64_t end_dim) {
  start_dim = wrap_dim("flatten", start_dim, x.dim());
  end_dim = wrap_dim("flatten", end_dim, x.dim());
  EBB_CHECK(start_dim <= end_dim, "flatten: start_dim (", start_dim, ") cannot come after end_dim (", end_dim,
            ").");
  if (x.dim() == 0) return reshape(x, {1});
  if (start_dim == end_dim) return x;
  DimVector sizes;
  std::int64_t merged = 1;
  for (std::int64_t d = 0; d < x.dim(); ++d) {
    const std::int64_t size = x.sizes()[d];
    if (d < start_dim || d > end_dim)
      sizes.push_back(size);
    else
      merged *= size;
    if (d == end_dim) sizes.push_back(merged);
  }
  return reshape(x, sizes);
}

Variable unflatten(const Variable& x, std::int64_t dim, IntArrayRef sizes) {
  dim = wrap_dim("unflatten", dim, x.dim());
  EBB_CHECK(!sizes.empty(), "unflatten: sizes must not be empty.");
  EBB_CHECK_INDEX(x.dim() > 0,
                  "unflatten: a 0-dimensional tensor has no dimension to unflatten. Use view().");
  const DimVector pieces = ops::infer_size("unflatten", sizes, x.size(dim));
  DimVector shape(x.sizes().slice(0, static_cast<std::size_t>(dim)));
  shape.append(pieces.begin(), pieces.end());
  shape.append(x.sizes().begin() + dim + 1, x.sizes().end());
  return view(x, shape);
}

Variable ravel(const Variable& x) { return view(contiguous(x, MemoryFormat::Contiguous), {-1}); }

Variable squeeze(const Variable& x) {
  return ops::view_of<SqueezeBackward>(x, squeezed(x.array()), keep_sizes(x));
}

Variable squeeze(const Variable& x, std::int64_t dim) {
  dim = wrap_dim("squeeze", dim, x.dim());
  return ops::view_of<SqueezeBackward>(x, squeezed(x.array(), dim), [&](SqueezeBackward& node) {
    node.sizes = DimVector(x.sizes());
    node.one_dim = true;
  });
}

Variable squeeze(const Variable& x, IntArrayRef dims) {
  return ops::view_of<SqueezeBackward>(x, squeezed("squeeze", x.array(), dims), keep_sizes(x));
}

Variable& squeeze_(const Variable& x, IntArrayRef dims) {
  return ops::reshape_in_place<SqueezeInPlaceBackward>(x, "squeeze_", squeezed("squeeze_", x.array(), dims),
                                                       keep_sizes(x));
}

Variable& squeeze_(const Variable& x) {
  return ops::reshape_in_place<SqueezeInPlaceBackward>(x, "squeeze_", squeezed(x.array()), keep_sizes(x));
}

Variable& squeeze_(const Variable& x, std::int64_t dim) {
  dim = wrap_dim("squeeze_", dim, x.dim());
  return ops::reshape_in_place<SqueezeInPlaceBackward>(x, "squeeze_", squeezed(x.array(), dim),
                                                       [&](SqueezeInPlaceBackward& node) {
                                                         node.sizes = DimVector(x.sizes());
                                                         node.one_dim = true;
                                                       });
}

Variable unsqueeze(const Variable& x, std::int64_t dim) {
  dim = wrap_dim("unsqueeze", dim, x.dim() + 1);
  return ops::view_of<UnsqueezeBackward>(x, unsqueezed(x.array(), dim), keep_sizes(x));
}

Variable& unsqueeze_(const Variable& x, std::int64_t dim) {
  dim = wrap_dim("unsqueeze_", dim, x.dim() + 1);
  return ops::reshape_in_place<UnsqueezeInPlaceBackward>(x, "unsqueeze_", unsqueezed(x.array(), dim),
                                                         keep_sizes(x));
}

Variable alias(const Variable& x) { return ops::view_of<AliasBackward>(x, x.array(), keep_sizes(x)); }

Variable atleast_1d(const Variable& x) { return x.dim() == 0 ? reshape(x, {1}) : x; }

Variable atleast_2d(const Variable& x) {
  if (x.dim() == 0) return reshape(x, {1, 1});
  return x.dim() == 1 ? unsqueeze(x, 0) : x;
}

Variable atleast_3d(const Variable& x) {
  if (x.dim() == 0) return reshape(x, {1, 1, 1});
  if (x.dim() == 1) return unsqueeze(unsqueeze(x, 0), -1);
  return x.dim() == 2 ? unsqueeze(x, -1) : x;
}

std::vector<Variable> atleast_1d(TensorList tensors) {
  return ops::each(tensors, [](const Variable& x) { return atleast_1d(x); });
}
std::vector<Variable> atleast_2d(TensorList tensors) {
  return ops::each(tensors, [](const Variable& x) { return atleast_2d(x); });
}
std::vector<Variable> atleast_3d(TensorList tensors) {
  return ops::each(tensors, [](const Variable& x) { return atleast_3d(x); });
}

}  // namespace ebb
