// norm, dist, logsumexp, and renorm, which scales slices down to a maximal norm.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/autocast.h"
#include "ops/common/dims.h"
#include "ops/common/record.h"
#include "ops/reduce/common.h"
#include "ops/reduce/kernels.h"

#include <cmath>

namespace ebb {
namespace ops {
namespace {

// Computes the gradient of the p-norm. The reduced dimensions of grad and norm have size 1. If the norm is 0,
// the subgradient is 0.
Variable norm_gradient(const Variable& grad, const Variable& x, const Variable& norm, double p,
                       DimMask mask) {
  if (p == 1) return grad * x.sgn();
  if (std::isinf(p)) {
    const Variable value = norm.detach(), magnitude = x.detach().abs();
    const Variable top = magnitude.eq(value).logical_or(magnitude.isnan().logical_and(value.isnan()));
    const DType wide = wide_dtype(grad.dtype());
    const Variable count = sum_over(top, mask, true, wide, 1, "SumBackward1");
    return (x.sgn() * (grad / count * top.to(wide))).to(grad.dtype());
  }
  const Variable flat = norm.detach().eq(0);
  const Variable zero = zeros({}, grad.options()), one = ones({}, grad.options());
  const Variable safe = where(flat, one, norm);
  // If no graph is recorded, (grad / norm) * x saves a pass, because grad / norm has few elements. If a graph
  // is recorded, this form is not used, because its derivatives overflow floats.
  if (p == 2 && !autograd::records(grad, x, norm)) return where(flat, zero, grad / safe) * x;
  if (p == 2) return where(flat, zero, grad) * unit_vector(x, safe, mask);
  const Variable share = x / safe;
  Variable direction = p < 2 ? x.sgn() * share.abs().pow(p - 1) : share * share.abs().pow(p - 2);
  if (p < 1) direction = where(x.detach().eq(0), zero, direction);
  return direction * where(flat, zero, grad);
}

struct NormBackward : autograd::Node {
  autograd::SavedVariable self{this}, result{this};
  DimMask mask = 0;
  bool keepdim = false;
  double p = 2;
  const char* title = "";

  std::string name() const override { return title; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    if (p == 0) return {Variable()};
    const Variable x = self.unpack().to(grads[0].dtype());
    const Variable grad = restore_dims(grads[0], x.sizes(), mask, keepdim);
    return {norm_gradient(grad, x, restore_dims(result.unpack(), x.sizes(), mask, keepdim), p, mask)};
  }
};

Variable norm_over(const char* op, const Variable& self, double p, DimMask mask, bool keepdim,
                   optional<ScalarType> dtype, const char* name) {
  const DType type = dtype.value_or(self.dtype());
  EBB_CHECK(is_floating(self.dtype()), op, ": input dtype should be floating point, got ", self,
            ". Convert first, as in x.to(ebb::kFloat).");
  EBB_CHECK(is_floating(type), op, ": the desired output dtype should be floating point, got ", type, ".");
  EBB_CHECK(promote_types(self.dtype(), type) == type, op, ": the dtype of the input (", self.dtype(),
            ") should be convertible without narrowing to the specified dtype (", type, ").");
  EBB_CHECK(p == p, op, ": the order p is NaN.");
  EBB_CHECK((p >= 0 && !std::isinf(p)) || reduced_count(self.sizes(), mask) > 0, op,
            ": cannot compute the norm of order ", p, " over no elements (shape ", self.sizes(),
            "), as the operation does not have an identity.");
  const DType sums = type == kDouble ? kDouble : kFloat;
  const NdArray in = wide_dtype(self.dtype()) == sums ? self.array() : cast_array(self.array(), sums);
  NdArray out = NdArray::empty(reduced_sizes(in.sizes(), mask, keepdim), sums, in.device());
  kernels::norm(in.device(), out, in, mask, p);
  Variable result(cast_array(out, type));
  if (const auto node = record_results<NormBackward>({&result}, self)) {
    node->mask = mask;
    node->keepdim = keepdim;
    node->p = p;
    node->title = name;
    node->self.save(self);
    node->result.save_output(result);
  }
  return result;
}

/// The node of x / norm. The derivative of the composed ops would divide by the norm twice: its intermediate
/// values, of the size of 1 / norm^2, would overflow for small norms.
struct UnitBackward : autograd::Node {
  autograd::SavedVariable self{this};
  DimMask mask = 0;
  std::string name() const override { return "DivBackward0"; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    const Variable x = self.unpack();
    const Variable norm = norm_over("norm", x, 2, mask, true, nullopt, "NormBackward1");
    const Variable safe = where(norm.detach().eq(0), ones({}, norm.options()), norm);
    const Variable unit = unit_vector(x, safe, mask);
    const Variable along = sum_over(grads[0] * unit, mask, true, nullopt, 1, "SumBackward1");
    return {(grads[0] - unit * along) / safe};
  }
};

}  // namespace

Variable unit_vector(const Variable& x, const Variable& norm, DimMask mask) {
  Variable out;
  {
    const NoGradGuard guard;
    out = x / norm;
  }
  if (const auto node = record_results<UnitBackward>({&out}, x)) {
    node->mask = mask;
    node->self.save(x);
  }
  return out;
}

namespace {

double order(const optional<Scalar>& p) { return p ? p->to_double() : 2; }

// The gradient is grad * softmax(x). grad * exp(x - result) would be inaccurate: if x is large or has 16
// bits, the rounded result has lost the logarithm of the count. If all elements are -inf, the gradient is
// NaN, as in torch.
struct LogsumexpBackward : autograd::Node {
  autograd::SavedVariable self{this}, result{this};
  DimMask mask = 0;
  bool keepdim = false;
  std::string name() const override { return "LogsumexpBackward0"; }
  autograd::GradList apply(autograd::GradList&& grads) override {
    const DType wide = wide_dtype(grads[0].dtype());
    const Variable x = self.unpack().to(wide);
    const Variable shift = restore_dims(result.unpack().detach().to(wide), x.sizes(), mask, keepdim);
    const Variable parts = (x - shift).exp();
    const Variable whole = sum_over(parts, mask, true, nullopt, 1, "SumBackward1");
    const Variable grad = restore_dims(grads[0], x.sizes(), mask, keepdim);
    return {(parts * (grad / whole)).to(grads[0].dtype())};
  }
};

Variable logsumexp_values(const Variable& x, DimMask mask, bool keepdim) {
  const NoGradGuard guard;
  if (reduced_count(x.sizes(), mask) == 0) return sum_over(x, mask, keepdim, nullopt, 1, "").log();
  NdArray top = NdArray::empty(reduced_sizes(x.sizes(), mask, true), x.dtype(), x.device());
  kernels::amax(x.device(), top, x.array(), mask);
  const Variable shift(std::move(top));
  // Infinite maxima are replaced by 0, because inf - inf would be NaN.
  const Variable finite = where(shift.isinf(), zeros({}, shift.options()), shift);
  const Variable total = sum_over((x - finite).exp(), mask, keepdim, wide_dtype(x.dtype()), 1, "").log();
  return (total + (keepdim ? finite : finite.view(total.sizes()))).to(x.dtype());
}

}  // namespace
}  // namespace ops

Variable norm(const Variable& self, const Scalar& p) {
  EBB_AUTOCAST(norm, self, p);
  return ops::norm_over("norm", self, p.to_double(), ops::all_dims("norm", self), false, nullopt,
                        "NormBackward0");
}
Variable norm(const Variable& self, const optional<Scalar>& p, ScalarType dtype) {
  return ops::norm_over("norm", self, ops::order(p), ops::all_dims("norm", self), false, dtype,
                        "NormBackward2");
}
Variable norm(const Variable& self, const optional<Scalar>& p, IntArrayRef dim, bool keepdim) {
  EBB_AUTOCAST(norm, self, p, dim, keepdim);
  return ops::norm_over("norm", self, ops::order(p), ops::dim_mask("norm", self, dim), keepdim, nullopt,
                        "NormBackward1");
}
Variable norm(const Variable& self, const optional<Scalar>& p, IntArrayRef dim, bool keepdim,
              ScalarType dtype) {
  return ops::norm_over("norm", self, ops::order(p), ops::dim_mask("norm", self, dim), keepdim, dtype,
                        "NormBackward3");
}
Variable linalg_vector_norm(const Variable& self, const Scalar& ord, OptionalIntArrayRef dim, bool keepdim,
                            optional<ScalarType> dtype) {
  EBB_AUTOCAST(linalg_vector_norm, self, ord, dim, keepdim, dtype);
  return ops::norm_over("linalg_vector_norm", self, ord.to_double(),
                        ops::dim_mask("linalg_vector_norm", self, dim), keepdim, dtype,
                        "LinalgVectorNormBackward0");
}
Variable frobenius_norm(const Variable& self, IntArrayRef dim, bool keepdim) {
  EBB_AUTOCAST(frobenius_norm, self, dim, keepdim);
  return norm(self, Scalar(2), dim, keepdim);
}
Variable dist(const Variable& self, const Variable& other, const Scalar& p) {
  EBB_AUTOCAST(dist, self, other, p);
  return norm(self - other, p);
}

Variable logsumexp(const Variable& self, IntArrayRef dim, bool keepdim) {
  EBB_AUTOCAST(logsumexp, self, dim, keepdim);
  const Variable x = is_floating(self.dtype()) ? self : self.to(get_default_dtype());
  const DimMask mask = ops::dim_mask("logsumexp", x, dim);
  Variable result = ops::logsumexp_values(x, mask, keepdim);
  if (const auto node = ops::record_results<ops::LogsumexpBackward>({&result}, self)) {
    node->mask = mask;
    node->keepdim = keepdim;
    node->self.save(self);
    node->result.save_output(result);
  }
  return result;
}

namespace {

// Returns the factor by which renorm multiplies each slice along `dim`. The factors have size 1 in the other
// dimensions.
Variable factors(const char* op, const Variable& x, const Scalar& p, std::int64_t dim,
                 const Scalar& maxnorm) {
  EBB_CHECK(x.defined() && x.dim() > 1, op, ": input needs at least 2 dimensions, got ", x, ".");
  EBB_CHECK(is_floating(x.dtype()), op, ": expected a floating-point dtype, got ", x,
            ". Convert it with .to(kFloat).");
  EBB_CHECK(p.to_double() > 0, op, ": non-positive-norm not supported, got p = ", p, ".");
  EBB_CHECK(maxnorm.to_double() >= 0, op, ": expected maxnorm to be >= 0, got ", maxnorm, ".");
  const std::int64_t kept = wrap_dim(op, dim, x.dim());
  DimVector others;
  for (std::int64_t d = 0; d < x.dim(); ++d)
    if (d != kept) others.push_back(d);
  const bool half = x.dtype() == kHalf || x.dtype() == kBFloat16;  // norms in 16 bits may overflow
  const Variable norms = half ? norm(x, p, others, true, kFloat) : norm(x, p, others, true);
  // This is torch's formula. Adding 1e-7 avoids a division by zero.
  return where(norms > maxnorm, maxnorm.to_double() / (norms + 1e-7), 1).to(x.dtype());
}

}  // namespace

Variable renorm(const Variable& self, const Scalar& p, std::int64_t dim, const Scalar& maxnorm) {
  EBB_AUTOCAST(renorm, self, p, dim, maxnorm);
  return self * factors("renorm", self, p, dim, maxnorm);
}
Variable& renorm_(const Variable& self, const Scalar& p, std::int64_t dim, const Scalar& maxnorm) {
  return self.mul_(factors("renorm_", autograd::records(self) ? self.clone() : self, p, dim, maxnorm));
}

}  // namespace ebb
