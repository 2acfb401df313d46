// gather, scatter and scatter_add.
#include <ebb/ops/creation.h>

#include "ops/common/arrays.h"
#include "ops/common/autocast.h"
#include "ops/common/checks.h"
#include "ops/common/record.h"
#include "ops/common/views.h"
#include "ops/index/common.h"

#include <algorithm>

namespace ebb {

namespace {

using autograd::GradList;
using kernels::ScatterOp;

struct GatherBackward : autograd::Node {
  autograd::SavedVariable index{this};
  DimVector sizes;
  std::int64_t dim = 0;
  std::string name() const override { return "GatherBackward0"; }
  GradList apply(GradList&& grads) override {
    const Variable zeros(ops::zeros_array(sizes, grads[0].dtype(), grads[0].device()));
    return {scatter_add_(zeros, dim, index.unpack(), grads[0])};
  }
};

struct ScatterBackward : autograd::Node {
  autograd::SavedVariable index{this};
  std::int64_t dim = 0;
  bool from_tensor = true;
  std::string name() const override { return from_tensor ? "ScatterBackward0" : "ScatterBackward1"; }
  GradList apply(GradList&& grads) override {
    GradList out(num_outputs());
    if (needs(0)) out[0] = scatter(grads[0], dim, index.unpack(), 0);
    if (from_tensor && needs(1)) out[1] = ops::gather_to(grads[0], dim, index.unpack(), source_sizes);
    return out;
  }
  DimVector source_sizes;
};

struct ScatterAddBackward : autograd::Node {
  autograd::SavedVariable index{this};
  std::int64_t dim = 0;
  DimVector source_sizes;
  std::string name() const override { return "ScatterAddBackward0"; }
  GradList apply(GradList&& grads) override {
    GradList out(2);
    if (needs(0)) out[0] = grads[0];
    if (needs(1)) out[1] = ops::gather_to(grads[0], dim, index.unpack(), source_sizes);
    return out;
  }
};

NdArray spread(const Scalar& value, const Variable& x, const Variable& index) {
  return ops::fill_value("scatter", x, value).expand(index.sizes());
}

const char* long_name(std::string_view reduce) {
  EBB_CHECK(reduce == "add" || reduce == "multiply",
            "scatter: reduce argument must be either add or multiply, got \"", reduce, "\".");
  return reduce == "add" ? "sum" : "prod";
}

}  // namespace

namespace ops {

Variable element_index(const char* op, const Variable& index) {
  EBB_CHECK(index.dtype() == kLong || index.dtype() == kInt || index.numel() == 0, op,
            ": expected dtype Long or Int for index, got ", index.dtype(), ". Convert it with .to(kLong).");
  return index.dtype() == kLong ? index : to(index.detach(), kLong);
}

Variable check_scatter(const char* op, const Variable& x, std::int64_t dim, const Variable& places,
                       const Variable& src) {
  common_device(op, x, places, src);
  Variable index = element_index(op, places);
  if (src.defined()) check_same_dtype(op, x, src);
  if (index.numel() == 0) return index;
  const auto dims = [](const Variable& v) { return std::max<std::int64_t>(v.dim(), 1); };
  EBB_CHECK(dims(index) == dims(x) && (!src.defined() || dims(src) == dims(index)), op,
            ": index tensor must have the same number of dimensions as self and src, got index ",
            index.sizes(), " and self ", x.sizes(), ".");
  for (std::int64_t d = 0; d < index.dim(); ++d) {
    const std::int64_t size = index.sizes()[d];
    EBB_CHECK(d == dim || size <= (x.dim() ? x.sizes()[d] : 1), op, ": expected index ", index.sizes(),
              " to be smaller than self ", x.sizes(), " apart from dimension ", dim, ".");
    EBB_CHECK(!src.defined() || size <= (src.dim() ? src.sizes()[d] : 1), op, ": expected index ",
              index.sizes(), " to be smaller size than src ", src.sizes(), ".");
  }
  return index;
}

void scatter_into(NdArray& out, std::int64_t dim, const NdArray& index, const NdArray& src, ScatterOp op) {
  if (index.numel() == 0) return;
  NdArray wide = at_least_1d(out), source = at_least_1d(src);
  const NdArray which = at_least_1d(index);
  for (std::int64_t d = 0; d < which.dim(); ++d)
    if (source.sizes()[d] != which.sizes()[d]) source = slice_array(source, d, 0, which.sizes()[d]);
  kernels::scatter(out.device(), wide, dim, which, source, op);
}

Variable gather_to(const Variable& x, std::int64_t dim, const Variable& index, IntArrayRef sizes) {
  Variable out = gather(x, dim, index);
  if (out.sizes() == sizes) return out;
  DimVector pad;  // elements of src outside the shape of index have no gradient
  for (std::int64_t d = out.dim(); d-- > 0;) {
    pad.push_back(0);
    pad.push_back(sizes[d] - out.sizes()[d]);
  }
  return constant_pad_nd(out, pad, 0);
}

}  // namespace ops

Variable gather(const Variable& x, std::int64_t dim, const Variable& places, bool) {
  dim = wrap_dim("gather", dim, x.dim());
  ops::common_device("gather", x, places);
  const Variable index = ops::element_index("gather", places);
  NdArray out = NdArray::empty(index.sizes(), x.dtype(), x.device());
  if (index.numel() > 0) {
    const NdArray source = ops::at_least_1d(x.array()), which = ops::at_least_1d(index.array());
    EBB_CHECK(source.dim() == which.dim(),
              "gather: index tensor must have the same number of dimensions as input ", "tensor, got index ",
              index.sizes(), " and input ", x.sizes(), ".");
    for (std::int64_t d = 0; d < which.dim(); ++d)
      EBB_CHECK(d == dim || which.sizes()[d] <= source.sizes()[d],
                "gather: size does not match at dimension ", d, ": expected index ", index.sizes(),
                " to be smaller than self ", x.sizes(), " apart from dimension ", dim, ".");
    NdArray wide = ops::at_least_1d(out);
    kernels::gather(x.device(), wide, source, dim, which);
  }
  return ops::record<GatherBackward>(
      std::move(out),
      [&](GatherBackward& node) {
        node.index.save(index);
        node.sizes = DimVector(x.sizes());
        node.dim = dim;
      },
      x);
}

namespace {

template <class N>
Variable scatter_source(const ops::Form& form, const Variable& x, std::int64_t dim, const Variable& places,
                        const Variable& src, ScatterOp how) {
  dim = wrap_dim(form.op, dim, x.dim());
  const Variable index = ops::check_scatter(form.op, x, dim, places, src);
  return ops::record_either<N>(
      form, x, [&](NdArray& out) { ops::scatter_into(out, dim, index.array(), src.array(), how); },
      [&](N& node) {
        node.index.save(index);
        node.dim = dim;
        node.source_sizes = DimVector(src.sizes());
      },
      src);
}

Variable scatter_value(const ops::Form& form, const Variable& x, std::int64_t dim, const Variable& places,
                       const Scalar& value) {
  dim = wrap_dim(form.op, dim, x.dim());
  const Variable index = ops::check_scatter(form.op, x, dim, places, {});
  const NdArray src = spread(value, x, index);
  return ops::record_either<ScatterBackward>(
      form, x, [&](NdArray& out) { ops::scatter_into(out, dim, index.array(), src, ScatterOp::assign); },
      [&](ScatterBackward& node) {
        node.index.save(index);
        node.dim = dim;
        node.from_tensor = false;
      });
}

}  // namespace

Variable scatter(const Variable& x, std::int64_t dim, const Variable& places, const Variable& src) {
  return scatter_source<ScatterBackward>({"scatter"}, x, dim, places, src, ScatterOp::assign);
}

Variable& scatter_(const Variable& x, std::int64_t dim, const Variable& places, const Variable& src) {
  scatter_source<ScatterBackward>({"scatter_", true}, x, dim, places, src, ScatterOp::assign);
  return ops::mutable_self(x);
}

Variable scatter(const Variable& x, std::int64_t dim, const Variable& places, const Scalar& value) {
  return scatter_value({"scatter"}, x, dim, places, value);
}

Variable& scatter_(const Variable& x, std::int64_t dim, const Variable& places, const Scalar& value) {
  scatter_value({"scatter_", true}, x, dim, places, value);
  return ops::mutable_self(x);
}

Variable scatter(const Variable& x, std::int64_t dim, const Variable& index, const Variable& src,
                 std::string_view reduce) {
  return scatter_reduce(x, dim, index, src, long_name(reduce));
}

Variable& scatter_(const Variable& x, std::int64_t dim, const Variable& index, const Variable& src,
                   std::string_view reduce) {
  return scatter_reduce_(x, dim, index, src, long_name(reduce));
}

Variable scatter(const Variable& x, std::int64_t dim, const Variable& index, const Scalar& value,
                 std::string_view reduce) {
  return scatter_reduce(x, dim, index, Variable(spread(value, x, index)), long_name(reduce));
}

Variable& scatter_(const Variable& x, std::int64_t dim, const Variable& index, const Scalar& value,
                   std::string_view reduce) {
  return scatter_reduce_(x, dim, index, Variable(spread(value, x, index)), long_name(reduce));
}

Variable scatter_add(const Variable& x, std::int64_t dim, const Variable& places, const Variable& src) {
  EBB_AUTOCAST(scatter_add, x, dim, places, src);
  return scatter_source<ScatterAddBackward>({"scatter_add"}, x, dim, places, src, ScatterOp::add);
}

Variable& scatter_add_(const Variable& x, std::int64_t dim, const Variable& places, const Variable& src) {
  scatter_source<ScatterAddBackward>({"scatter_add_", true}, x, dim, places, src, ScatterOp::add);
  return ops::mutable_self(x);
}

}  // namespace ebb
