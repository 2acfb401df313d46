// scatter_reduce: sum, product, mean, maximum or minimum.
#include <ebb/core/visit.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/reduce.h>

#include "ops/common/arrays.h"
#include "ops/common/dims.h"
#include "ops/common/kernels.h"
#include "ops/common/record.h"
#include "ops/index/common.h"

#include <limits>

namespace ebb {

namespace {

using autograd::GradList;
using kernels::ScatterOp;

enum class Reduce : std::uint8_t { sum, prod, mean, amax, amin };

Reduce parse(std::string_view reduce) {
  if (reduce == "sum") return Reduce::sum;
  if (reduce == "prod") return Reduce::prod;
  if (reduce == "mean") return Reduce::mean;
  if (reduce == "amax") return Reduce::amax;
  EBB_CHECK(reduce == "amin",
            "scatter_reduce: reduce argument must be either sum, prod, mean, amax or amin, got \"", reduce,
            "\".");
  return Reduce::amin;
}

Variable same(const Scalar& value, DType dtype, Device device, IntArrayRef sizes) {
  return Variable(ops::scalar_array(value, dtype, device).expand(sizes));
}
Variable ones(const Variable& like, IntArrayRef sizes) { return same(1, like.dtype(), like.device(), sizes); }

// Returns the number of values that are combined in each element of self, at least 1.
Variable counts(const Variable& self, std::int64_t dim, const Variable& index, bool include_self) {
  const DType dtype = ops::wide_dtype(self.dtype());
  const Variable start = same(include_self ? 1 : 0, dtype, self.device(), self.sizes());
  const Variable count = scatter_add(start, dim, index, same(1, dtype, self.device(), index.sizes()));
  return masked_fill(count, eq(count, 0), 1);
}

// Returns the initial value of a reduction if self is not included.
Scalar identity(Reduce reduce, DType dtype) {
  if (reduce == Reduce::sum || reduce == Reduce::mean) return 0;
  if (reduce == Reduce::prod) return 1;
  const bool least = reduce == Reduce::amax;
  if (is_floating(dtype))
    return least ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  if (dtype == kBool) return !least;
  return visit_integral(dtype, "scatter_reduce", [&]<class T> {
    return Scalar(
        static_cast<std::int64_t>(least ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max()));
  });
}

ScatterOp scatter_op(Reduce reduce) {
  switch (reduce) {
    case Reduce::prod:
      return ScatterOp::multiply;
    case Reduce::amax:
      return ScatterOp::amax;
    case Reduce::amin:
      return ScatterOp::amin;
    default:
      return ScatterOp::add;
  }
}

// Returns for each element of s the product of the other elements with the same destination. The result is
// differentiable any number of times. The elements are sorted by destination, and the product of the
// preceding elements is multiplied by the product of the following ones. This needs no division.
Variable product_of_others(const Variable& s, std::int64_t dim, const Variable& which) {
  const std::int64_t n = which.dim() > 0 ? which.size(dim) : 1;
  if (n < 2) return ones(s, s.sizes());
  const auto [place, order] = sort(which, dim);
  const Variable sorted = gather(s, dim, order);
  const Variable meet = eq(narrow(place, dim, 0, n - 1),
                           narrow(place, dim, 1, n - 1));  // two neighbours with equal destinations
  const Variable apart = to(logical_not(meet), s.dtype()), edge = ones(s, narrow(place, dim, 0, 1).sizes());
  // Each scan restarts from 1 where the destination changes.
  const Variable before =
      linear_recurrence(cat({edge, apart}, dim), where(meet, narrow(sorted, dim, 0, n - 1), 0), dim, false);
  const Variable behind =
      linear_recurrence(cat({apart, edge}, dim), where(meet, narrow(sorted, dim, 1, n - 1), 0), dim, true);
  return scatter_(zeros_like(s), dim, order, mul(before, behind));
}

struct ScatterReduceBackward : autograd::Node {
  autograd::SavedVariable self{this}, index{this}, src{this}, result{this};
  DimVector source_sizes;
  std::int64_t dim = 0;
  Reduce reduce = Reduce::sum;
  bool include_self = true;
  std::string name() const override { return "ScatterReduceBackward0"; }

  GradList apply(GradList&& grads) override {
    const Variable which = index.unpack();
    GradList out(2);
    switch (reduce) {
      case Reduce::sum: {
        out[0] = grads[0];
        if (needs(1)) out[1] = gather(grads[0], dim, which);
        break;
      }
      case Reduce::mean: {
        out[0] = to(div(grads[0], counts(grads[0], dim, which, include_self)), grads[0].dtype());
        if (needs(1)) out[1] = gather(out[0], dim, which);
        break;
      }
      case Reduce::prod:
        prod_grads(grads[0], which, out);
        break;
      default:
        extreme_grads(grads[0], which, out);
    }
    if (needs(0) && !include_self) out[0] = scatter(out[0], dim, which, 0);
    if (needs(1) && out[1].sizes() != IntArrayRef(source_sizes)) {
      DimVector pad;  // elements of src outside the shape of index have no gradient
      for (std::int64_t d = which.dim(); d-- > 0;) {
        pad.push_back(0);
        pad.push_back(source_sizes[d] - which.sizes()[d]);
      }
      out[1] = constant_pad_nd(out[1], pad, 0);
    }
    return out;
  }

 private:
  // Returns src narrowed to the shape of index.
  Variable used_source(const Variable& which) const {
    Variable s = src.unpack();
    for (std::int64_t d = 0; d < which.dim(); ++d)
      if (s.sizes()[d] != which.sizes()[d]) s = narrow(s, d, 0, which.sizes()[d]);
    return s;
  }

  // The derivative of prod with respect to an element is the product of the other elements. In grad mode,
  // product_of_others() computes it. Otherwise it is computed as the product of all elements, divided by the
  // element. If the element is the only zero, it is the product with this element replaced by one. If several
  // elements are zero, all derivatives are zero.
  void prod_grads(const Variable& grad, const Variable& which, GradList& out) const {
    const Variable x = self.unpack(), s = used_source(which);
    if (needs(0)) out[0] = mul(grad, scatter_reduce(ones(x, x.sizes()), dim, which, s, "prod", include_self));
    if (!needs(1)) return;
    if (autograd::GradMode::is_enabled()) {
      const Variable shared = gather(include_self ? mul(grad, x) : grad, dim, which);
      out[1] = mul(shared, product_of_others(s, dim, which));
      return;
    }
    const Variable x_zero = eq(x, 0), s_zero = eq(s, 0);
    Variable zeros = scatter_add_(zeros_like(x), dim, which, to(s_zero, x.dtype()));
    if (include_self) zeros = add(zeros, to(x_zero, x.dtype()));
    const Variable alone = logical_and(s_zero, eq(gather(zeros, dim, which), 1));
    const Variable without = scatter_reduce(x, dim, which, masked_fill(s, alone, 1), "prod", include_self);
    const Variable all = scatter_reduce(x, dim, which, s, "prod", include_self);
    out[1] = where(alone, gather(mul(grad, without), dim, which),
                   div(gather(mul(grad, all), dim, which), masked_fill(s, s_zero, 1)));
  }

  // Elements that equal the extreme share the gradient evenly. If the extreme is NaN, no element equals it,
  // and the gradients of all elements that were combined into it become NaN.
  void extreme_grads(const Variable& grad, const Variable& which, GradList& out) const {
    const Variable x = self.unpack(), s = used_source(which), extreme = result.unpack();
    const DType wide = ops::wide_dtype(grad.dtype());
    const Variable x_is = to(eq(x, extreme), wide);
    const Variable s_is = to(eq(s, gather(extreme, dim, which)), wide);
    const Variable count = scatter_add(include_self ? x_is : scatter(x_is, dim, which, 0), dim, which, s_is);
    const Variable share = div(grad, count);
    if (needs(0)) out[0] = to(mul(x_is, share), grad.dtype());
    if (needs(1)) out[1] = to(mul(s_is, gather(share, dim, which)), grad.dtype());
  }
};

struct Call {
  std::int64_t dim;
  Reduce reduce;
  bool include_self;
  Variable index;

  Call(const char* op, const Variable& x, std::int64_t d, const Variable& places, const Variable& src,
       std::string_view name, bool include)
      : dim(wrap_dim(op, d, x.dim())),
        reduce(parse(name)),
        include_self(include),
        index(ops::check_scatter(op, x, dim, places, src)) {}

  auto write(const Variable& src) const {
    return [this, &src](NdArray& out) {
      if (index.numel() == 0) return;
      const DType wide = ops::wide_dtype(out.dtype());
      if (reduce != Reduce::mean) return combine(out, src.array());
      // The sums may overflow in 16-bit floats, so they are computed in `wide`.
      NdArray sums = ops::cast_array(out, wide);
      combine(sums, ops::cast_array(src.array(), wide));
      const Variable total(sums), count = counts(total, dim, index, include_self);
      const Variable mean = is_floating(wide) ? div(total, count) : div(total, count, "floor");
      kernels::copy(out.device(), out, mean.array());
    };
  }

  void combine(NdArray& out, const NdArray& src) const {
    const NdArray start = ops::scalar_array(identity(reduce, out.dtype()), out.dtype(), out.device());
    if (!include_self)
      ops::scatter_into(out, dim, index.array(), start.expand(index.sizes()), ScatterOp::assign);
    ops::scatter_into(out, dim, index.array(), src, scatter_op(reduce));
  }

  auto keep(const Variable& x, const Variable& src) const {
    return [this, &x, &src](ScatterReduceBackward& node) {
      node.dim = dim;
      node.reduce = reduce;
      node.include_self = include_self;
      node.source_sizes = DimVector(src.sizes());
      node.index.save(index);
      if (reduce == Reduce::sum || reduce == Reduce::mean) return;
      node.self.save(x);
      node.src.save(src);
    };
  }

  void keep_result(const Variable& out) const {
    if ((reduce == Reduce::amax || reduce == Reduce::amin) && out.grad_fn() &&
        autograd::GradMode::is_enabled())
      static_cast<ScatterReduceBackward&>(*out.grad_fn()).result.save_output(out);
  }
};

}  // namespace

Variable scatter_reduce(const Variable& x, std::int64_t dim, const Variable& index, const Variable& src,
                        std::string_view reduce, bool include_self) {
  const Call call("scatter_reduce", x, dim, index, src, reduce, include_self);
  Variable out = ops::record_either<ScatterReduceBackward>({"scatter_reduce"}, x, call.write(src),
                                                           call.keep(x, src), src);
  call.keep_result(out);
  return out;
}

Variable& scatter_reduce_(const Variable& x, std::int64_t dim, const Variable& index, const Variable& src,
                          std::string_view reduce, bool include_self) {
  const Call call("scatter_reduce_", x, dim, index, src, reduce, include_self);
  if (!autograd::records(x, src) || call.reduce == Reduce::sum || call.reduce == Reduce::mean)
    return ops::record_inplace<ScatterReduceBackward>(x, "scatter_reduce_", call.write(src),
                                                      call.keep(x, src), src);
  // The gradient needs both the old and the new value of self, so the new value is computed out of place and
  // copied to self.
  autograd::check_inplace(x, "scatter_reduce_");
  // The gradient needs the values that are about to be overwritten.
  const Variable before = autograd::records(x, src) ? clone(x) : x;
  return copy_(x, scatter_reduce(before, dim, index, src, reduce, include_self));
}

}  // namespace ebb
