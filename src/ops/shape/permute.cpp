// permute, transpose, t, movedim and other reorderings of dimensions.
#include <ebb/core/warning.h>
#include <ebb/ops/shape.h>

#include "ops/common/record.h"
#include "ops/common/views.h"

#include <atomic>
#include <utility>

namespace ebb {

namespace {

using autograd::GradList;

struct TransposeBackward : autograd::Node {
  std::int64_t dim0 = 0, dim1 = 0;
  std::string name() const override { return "TransposeBackward0"; }
  GradList apply(GradList&& grads) override { return {transpose(grads[0], dim0, dim1)}; }
};

struct TransposeInPlaceBackward : TransposeBackward {
  std::string name() const override { return "TransposeBackward1"; }
};

struct TBackward : autograd::Node {
  std::string name() const override { return "TBackward0"; }
  GradList apply(GradList&& grads) override { return {t(grads[0])}; }
};

struct TInPlaceBackward : TBackward {
  std::string name() const override { return "TBackward1"; }
};

struct PermuteBackward : autograd::Node {
  DimVector dims;
  std::string name() const override { return "PermuteBackward0"; }
  GradList apply(GradList&& grads) override {
    DimVector inverse(dims.size());
    for (std::size_t i = 0; i < dims.size(); ++i) inverse[dims[i]] = static_cast<std::int64_t>(i);
    return {permute(grads[0], inverse)};
  }
};

void check_t(const char* op, const Variable& x) {
  EBB_CHECK(x.dim() <= 2, op, ": expects a tensor with at most 2 dimensions, but self is ", x.dim(),
            "D. Use transpose(-2, -1) or mT().");
}

}  // namespace

Variable transpose(const Variable& x, std::int64_t dim0, std::int64_t dim1) {
  dim0 = wrap_dim("transpose", dim0, x.dim());
  dim1 = wrap_dim("transpose", dim1, x.dim());
  return ops::view_of<TransposeBackward>(x, ops::transpose_array(x.array(), dim0, dim1),
                                         [&](TransposeBackward& node) {
                                           node.dim0 = dim0;
                                           node.dim1 = dim1;
                                         });
}

Variable& transpose_(const Variable& x, std::int64_t dim0, std::int64_t dim1) {
  dim0 = wrap_dim("transpose_", dim0, x.dim());
  dim1 = wrap_dim("transpose_", dim1, x.dim());
  return ops::reshape_in_place<TransposeInPlaceBackward>(
      x, "transpose_", ops::transpose_array(x.array(), dim0, dim1), [&](TransposeInPlaceBackward& node) {
        node.dim0 = dim0;
        node.dim1 = dim1;
      });
}

Variable t(const Variable& x) {
  check_t("t", x);
  return ops::view_of<TBackward>(x, x.dim() < 2 ? x.array() : ops::transpose_array(x.array(), 0, 1),
                                 [](TBackward&) {});
}

Variable& t_(const Variable& x) {
  check_t("t_", x);
  return ops::reshape_in_place<TInPlaceBackward>(
      x, "t_", x.dim() < 2 ? x.array() : ops::transpose_array(x.array(), 0, 1), [](TInPlaceBackward&) {});
}

Variable permute(const Variable& x, IntArrayRef dims) {
  EBB_CHECK(static_cast<std::int64_t>(dims.size()) == x.dim(),
            "permute: needs one entry for each dimension, got ", dims, " for a tensor of shape ", x.sizes(),
            ".");
  const DimVector order = ops::distinct_dims("permute", dims, x.dim());
  return ops::view_of<PermuteBackward>(x, ops::permute_array(x.array(), order),
                                       [&](PermuteBackward& node) { node.dims = order; });
}

Variable numpy_T(const Variable& x) {
  static constinit std::atomic_flag warned;
  if (x.dim() != 0 && x.dim() != 2 && warns_first(warned))
    warn(
        "numpy_T: the use of T on tensors of dimension other than 2 to reverse their shape is deprecated. "
        "Use mT() for batches of matrices, or permute(). The tensor has shape ",
        x.sizes(), ".");
  DimVector dims;
  for (std::int64_t d = x.dim(); d-- > 0;) dims.push_back(d);
  return permute(x, dims);
}

Variable movedim(const Variable& x, IntArrayRef source, IntArrayRef destination) {
  EBB_CHECK(source.size() == destination.size(), "movedim: source ", source, " and destination ", destination,
            " must have the same number of dimensions.");
  const DimVector from = ops::distinct_dims("movedim", source, x.dim());
  const DimVector to = ops::distinct_dims("movedim", destination, x.dim());
  if (x.dim() == 0) return x;
  DimVector order(static_cast<std::size_t>(x.dim()), -1);
  SmallVector<bool, 64> taken(order.size(), false);
  for (std::size_t i = 0; i < from.size(); ++i) {
    order[to[i]] = from[i];
    taken[from[i]] = true;
  }
  std::int64_t next = 0;
  for (std::int64_t& d : order) {
    if (d >= 0) continue;
    while (taken[next]) ++next;
    d = next++;
  }
  return permute(x, order);
}

Variable movedim(const Variable& x, std::int64_t source, std::int64_t destination) {
  return movedim(x, IntArrayRef(source), IntArrayRef(destination));
}

}  // namespace ebb
