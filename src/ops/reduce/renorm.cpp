// renorm: scales slices down to a maximal norm.
#include <ebb/autograd/record.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>

#include "ops/common/autocast.h"

namespace ebb {
namespace {

// Returns the factor of each slice, with size 1 in the other dimensions.
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
  const bool half = x.dtype() == kHalf || x.dtype() == kBFloat16;  // norms of these overflow
  const Variable norms = half ? norm(x, p, others, true, kFloat) : norm(x, p, others, true);
  // torch's formula. The small summand avoids division by zero.
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
