// cov and corrcoef.
#include <ebb/core/warning.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/checks.h"

namespace ebb {
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
