// var, std, var_mean, std_mean, cov and corrcoef.
#include <ebb/autograd/record.h>
#include <ebb/core/warning.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/arrays.h"
#include "ops/common/checks.h"
#include "ops/common/dims.h"
#include "ops/common/record.h"
#include "ops/reduce/common.h"
#include "ops/reduce/kernels.h"

#include <algorithm>
#include <cmath>

namespace ebb {
namespace ops {
namespace {

struct Spread {
  DimMask mask = 0;
  double correction = 1;
  bool keepdim = false;
  bool root = false;  // true for std, false for var
};

// d var / dx = 2 (x - mean) / (count - correction). The derivative of std is d var / dx divided by 2 std, and
// 0 if std is 0.
Variable spread_gradient(const Variable& grad, const Variable& x, const Variable& result, const Spread& s) {
  const double divisor = static_cast<double>(reduced_count(x.sizes(), s.mask)) - s.correction;
  const Variable centred =
      x - sum_over(x, s.mask, true, nullopt, static_cast<double>(reduced_count(x.sizes(), s.mask)),
                   "MeanBackward1");
  if (!s.root) return restore_dims(grad * (2 / divisor), x.sizes(), s.mask, s.keepdim) * centred;
  const Variable flat = result.detach().eq(0), safe = where(flat, ones({}, grad.options()), result);
  const Variable used = where(flat, zeros({}, grad.options()), grad / divisor);
  // If no graph is recorded, used / safe saves a pass. If a graph is recorded, this form is not used, because
  // its derivatives overflow floats.
  if (!autograd::records(grad, x, result))
    return restore_dims(used / safe, x.sizes(), s.mask, s.keepdim) * centred;
  const double root = std::sqrt(divisor);
  return restore_dims(used, x.sizes(), s.mask, s.keepdim) *
         (unit_vector(centred, restore_dims(safe.detach(), x.sizes(), s.mask, s.keepdim) * root, s.mask) *
          root);
}

struct SpreadBackward : autograd::Node {
  autograd::SavedVariable self{this}, result{this};
  Spread spread;
  bool with_mean = false;

  std::string name() const override {
    if (with_mean) return spread.root ? "StdMeanBackward0" : "VarMeanBackward0";
    return spread.root ? "StdBackward0" : "VarBackward0";
  }
  autograd::GradList apply(autograd::GradList&& grads) override {
    const Variable x = self.unpack();
    Variable total;
    if (grads[0].defined())
      total = spread_gradient(grads[0], x, spread.root ? result.unpack() : Variable(), spread);
    if (with_mean && grads[1].defined()) {
      const double count = static_cast<double>(reduced_count(x.sizes(), spread.mask));
      const Variable part = expand_reduced(grads[1] / count, x.sizes(), spread.mask, spread.keepdim);
      total = total.defined() ? total + part : part;
    }
    return {std::move(total)};
  }
};

std::tuple<Variable, Variable> spread(const char* op, const Variable& self, const Spread& s, bool with_mean) {
  EBB_CHECK(is_floating(self.dtype()), op, ": std and var only support floating-point dtypes, got ", self,
            ". Convert first, as in x.to(ebb::kFloat).");
  const DType type = self.dtype() == kDouble ? kDouble : kFloat;
  const NdArray in = reduced_input(self.array(), type);
  const std::int64_t count = reduced_count(in.sizes(), s.mask);
  const DimVector sizes = reduced_sizes(in.sizes(), s.mask, s.keepdim);
  NdArray mean = NdArray::empty(sizes, type, in.device()), out = NdArray::empty(sizes, type, in.device());
  // If count <= correction, the divisor is 0, and the result is NaN (0 / 0) or infinite (x / 0), as in torch.
  const double divisor = std::max(static_cast<double>(count) - s.correction, 0.0);
  if (divisor == 0)
    warn(op, ": degrees of freedom is <= 0. Correction should be strictly less than the ", count,
         " elements of each result.");
  kernels::variance(in.device(), out, mean, in, s.mask, divisor, s.root);
  Variable result(cast_array(out, self.dtype())), average;
  if (with_mean) average = Variable(cast_array(mean, self.dtype()));
  if (const auto node = record_results<SpreadBackward>({&result, &average}, self)) {
    node->spread = s;
    node->with_mean = with_mean;
    node->self.save(self);
    if (s.root) node->result.save_output(result);
  }
  return {std::move(result), std::move(average)};
}

double given(const optional<Scalar>& correction) { return correction ? correction->to_double() : 1; }

Spread make_spread(const char* op, const Variable& x, OptionalIntArrayRef dim, double correction,
                   bool keepdim, bool root) {
  return {dim_mask(op, x, dim), correction, keepdim, root};
}

}  // namespace
}  // namespace ops

using ops::given;
using ops::make_spread;

Variable var(const Variable& self, bool unbiased) { return var(self, nullopt, unbiased, false); }
Variable var(const Variable& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return std::get<0>(
      ops::spread("var", self, make_spread("var", self, dim, unbiased, keepdim, false), false));
}
Variable var(const Variable& self, OptionalIntArrayRef dim, const optional<Scalar>& correction,
             bool keepdim) {
  const auto s = make_spread("var", self, dim, given(correction), keepdim, false);
  return std::get<0>(ops::spread("var", self, s, false));
}
Variable std(const Variable& self, bool unbiased) { return ebb::std(self, nullopt, unbiased, false); }
Variable std(const Variable& self, OptionalIntArrayRef dim, bool unbiased, bool keepdim) {
  return std::get<0>(ops::spread("std", self, make_spread("std", self, dim, unbiased, keepdim, true), false));
}
Variable std(const Variable& self, OptionalIntArrayRef dim, const optional<Scalar>& correction,
             bool keepdim) {
  const auto s = make_spread("std", self, dim, given(correction), keepdim, true);
  return std::get<0>(ops::spread("std", self, s, false));
}
std::tuple<Variable, Variable> var_mean(const Variable& self, bool unbiased) {
  return var_mean(self, nullopt, unbiased, false);
}
std::tuple<Variable, Variable> var_mean(const Variable& self, OptionalIntArrayRef dim, bool unbiased,
                                        bool keepdim) {
  return ops::spread("var_mean", self, make_spread("var_mean", self, dim, unbiased, keepdim, false), true);
}
std::tuple<Variable, Variable> var_mean(const Variable& self, OptionalIntArrayRef dim,
                                        const optional<Scalar>& correction, bool keepdim) {
  return ops::spread("var_mean", self, make_spread("var_mean", self, dim, given(correction), keepdim, false),
                     true);
}
std::tuple<Variable, Variable> std_mean(const Variable& self, bool unbiased) {
  return std_mean(self, nullopt, unbiased, false);
}
std::tuple<Variable, Variable> std_mean(const Variable& self, OptionalIntArrayRef dim, bool unbiased,
                                        bool keepdim) {
  return ops::spread("std_mean", self, make_spread("std_mean", self, dim, unbiased, keepdim, true), true);
}
std::tuple<Variable, Variable> std_mean(const Variable& self, OptionalIntArrayRef dim,
                                        const optional<Scalar>& correction, bool keepdim) {
  return ops::spread("std_mean", self, make_spread("std_mean", self, dim, given(correction), keepdim, true),
                     true);
}

namespace {

Variable checked_weights(const char* what, const Variable& w, const Variable& of, bool integral) {
  EBB_CHECK(w.dim() <= 1 && w.numel() == of.size(1), "cov: expected ", what, " to be a vector of ",
            of.size(1), " numbers, one for each observation, got shape ", w.sizes(), ".");
  EBB_CHECK(integral ? is_integral(w.dtype()) : is_floating(w.dtype()), "cov: expected ", what, " to be of ",
            integral ? "an integer" : "a floating-point", " dtype, got ", w.dtype(), ".");
  EBB_CHECK(w.numel() == 0 || w.detach().min().item<double>() >= 0, "cov: ", what, " cannot be negative.");
  return w.reshape({-1});
}

void warn_freedom() {
  warn("cov: degrees of freedom is <= 0; correction should be less than the number of observations.");
}

}  // namespace

Variable cov(const Variable& self, std::int64_t correction, const optional<Variable>& fweights,
             const optional<Variable>& aweights) {
  EBB_CHECK(self.defined() && self.dim() <= 2, "cov: expected a tensor of at most two dimensions, got ", self,
            ".");
  EBB_CHECK(self.dtype() != kBool, "cov: Bool is not supported. Convert it with .to(dtype).");
  const Variable rows = self.dim() < 2 ? self.reshape({1, -1}) : self;
  const Variable x = is_floating(rows.dtype()) ? rows : rows.to(get_default_dtype());
  const std::int64_t n = x.size(1);
  Variable w;
  const bool by_count = fweights && fweights->defined(), by_weight = aweights && aweights->defined();
  if (by_count) w = checked_weights("fweights", *fweights, x, true);
  if (by_weight) {
    const Variable a = checked_weights("aweights", *aweights, x, false);
    w = w.defined() ? w * a : a;
  }
  if (!w.defined()) {
    const Variable centred = x - x.sum({1}, true) / static_cast<double>(n);
    const std::int64_t freedom = n - correction;
    if (freedom <= 0) warn_freedom();
    return (matmul(centred, centred.t()) / static_cast<double>(std::max<std::int64_t>(freedom, 0))).squeeze();
  }
  ops::common_device("cov", x, w);
  w = w.to(x.dtype());
  const Variable total = w.sum();
  EBB_CHECK(total.item<double>() != 0, "cov: weights sum to zero, can't be normalized.");
  const Variable centred = x - (x * w).sum({1}, true) / total;
  Variable freedom = total - static_cast<double>(correction);
  if (by_weight && correction != 0)
    freedom = total - (w * aweights->reshape({-1})).sum() / total * static_cast<double>(correction);
  if (freedom.item<double>() <= 0) {
    warn_freedom();
    freedom = freedom * 0;
  }
  return (matmul(centred, (centred * w).t()) / freedom).squeeze();
}

Variable corrcoef(const Variable& self) {
  EBB_CHECK(self.defined() && self.dim() <= 2, "corrcoef: expected a tensor of at most two dimensions, got ",
            self, ".");
  const Variable c = cov(self);
  if (c.dim() == 0) return c / c;
  const Variable deviation = c.diagonal().sqrt();
  return (c / deviation.unsqueeze(1) / deviation.unsqueeze(0)).clamp(-1, 1);
}

}  // namespace ebb
