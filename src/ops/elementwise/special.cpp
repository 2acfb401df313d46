// erf, erfc, erfinv, lgamma, digamma, polygamma, i0, logit, sinc.
#include "ops/elementwise/formulas/special.h"

#include "ops/common/autocast.h"
#include "ops/elementwise/record_formula.h"
#include "ops/elementwise/special_derivatives.h"

namespace ebb {

using namespace ops;

/// Returns the n-th derivative of sinc, which has a formula of its own.
static Variable sinc_derivative(int n, const Variable& x) { return unary(x, SincDerivative{{}, n}); }

Variable erf(const Variable& self) { return unary<Erf>(self); }
Variable& erf_(const Variable& self) { return unary_inplace<Erf>(self); }
Variable erfc(const Variable& self) { return unary<Erfc>(self); }
Variable& erfc_(const Variable& self) { return unary_inplace<Erfc>(self); }
Variable erfinv(const Variable& self) {
  EBB_AUTOCAST(erfinv, self);
  return unary<Erfinv>(self);
}
Variable& erfinv_(const Variable& self) { return unary_inplace<Erfinv>(self); }
Variable lgamma(const Variable& self) { return unary<Lgamma>(self); }
Variable& lgamma_(const Variable& self) { return unary_inplace<Lgamma>(self); }
Variable digamma(const Variable& self) { return unary<Digamma>(self); }
Variable& digamma_(const Variable& self) { return unary_inplace<Digamma>(self); }
Variable sinc(const Variable& self) { return unary<Sinc>(self); }
Variable& sinc_(const Variable& self) { return unary_inplace<Sinc>(self); }
Variable i0(const Variable& self) { return unary<BesselI0>(self); }
Variable& i0_(const Variable& self) { return unary_inplace<BesselI0>(self); }
Variable special_i1(const Variable& self) { return unary<BesselI1>(self); }
Variable polygamma(std::int64_t n, const Variable& self) {
  EBB_CHECK(n >= 0 && n < 170, "polygamma: polygamma(n, x) does not support n = ", n,
            "; n must be in [0, 170).");
  return n == 0 ? digamma(self) : unary(self, Polygamma{{}, static_cast<int>(n)});
}
Variable logit(const Variable& self, optional<double> eps) {
  return unary(self, Logit{{}, eps.value_or(-1)});
}
Variable& logit_(const Variable& self, optional<double> eps) {
  return unary_inplace(self, Logit{{}, eps.value_or(-1)});
}

}  // namespace ebb
