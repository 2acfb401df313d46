// quantile and nanquantile: interpolate in sorted rows.
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/autocast.h"
#include "ops/common/checks.h"

#include <cmath>

namespace ebb {
namespace {

// With skip_nan, NaN elements of a row are ignored.
Variable quantiles(const char* op, const Variable& self, const Variable& q, optional<std::int64_t> dim,
                   bool keepdim, std::string_view interpolation, bool skip_nan) {
  EBB_CHECK(self.dtype() == kFloat || self.dtype() == kDouble, op,
            ": input tensor must be either float or double, got ", self, ".");
  EBB_CHECK(self.numel() > 0, op, ": input tensor must be non-empty, got shape ", self.sizes(), ".");
  EBB_CHECK(q.dim() <= 1 && q.dtype() == self.dtype(), op,
            ": expected q as a number or a list of the input's dtype, got ", q, " for ", self, ".");
  ops::check_true(op, q.detach().ge(0).logical_and(q.detach().le(1)), "q must be in the range [0, 1].");
  const bool linear = interpolation == "linear", midpoint = interpolation == "midpoint";
  EBB_CHECK(linear || midpoint || interpolation == "lower" || interpolation == "higher" ||
                interpolation == "nearest",
            op, ": interpolation must be one of linear, lower, higher, midpoint or nearest, got ",
            interpolation, ".");
  const bool along = dim && self.dim() > 0;
  const std::int64_t d = dim ? wrap_dim(op, *dim, self.dim()) : 0;
  const Variable ordered = std::get<0>(sort(along ? self.movedim(d, -1) : self.reshape({-1}), -1));
  const std::int64_t n = ordered.size(-1);
  DimVector wide(ordered.sizes());
  wide.back() = q.numel();
  // NaN is sorted last.
  const Variable broken = skip_nan ? ordered.isnan().all(-1, true) : ordered.isnan().any(-1, true);
  const Variable ranks = q.reshape({-1});
  const Variable rank =
      skip_nan
          ? ranks * (ordered.detach().isnan().logical_not().sum({-1}, true) - 1).clamp_min(0).to(q.dtype())
          : (ranks * static_cast<double>(n - 1)).expand(wide);
  const auto at = [&](const Variable& place) { return ordered.gather(-1, place.detach().to(kLong)); };
  Variable result;
  if (linear || midpoint) {
    const Variable below = at(rank.floor()), above = at(rank.ceil());
    const Variable weight = midpoint ? full_like(rank, 0.5) : rank - rank.floor().detach();
    result = below + weight * (above - below);
  } else {
    result = at(interpolation == "lower"    ? rank.floor()
                : interpolation == "higher" ? rank.ceil()
                                            : rank.round());
  }
  result = where(broken, full_like(result, NAN), result);
  if (along) {
    result = result.movedim(-1, 0);
    if (keepdim) result = result.unsqueeze(d + 1);
  } else if (keepdim) {
    DimVector ones(static_cast<std::size_t>(self.dim()) + 1, 1);
    ones[0] = q.numel();
    result = result.reshape(ones);
  }
  return q.dim() == 0 ? result.squeeze(0) : result;
}
}  // namespace

Variable quantile(const Variable& self, const Variable& q, optional<std::int64_t> dim, bool keepdim,
                  std::string_view interpolation) {
  EBB_AUTOCAST(quantile, self, q, dim, keepdim, interpolation);
  return quantiles("quantile", self, q, dim, keepdim, interpolation, false);
}
Variable quantile(const Variable& self, double q, optional<std::int64_t> dim, bool keepdim,
                  std::string_view interpolation) {
  EBB_AUTOCAST(quantile, self, q, dim, keepdim, interpolation);
  EBB_CHECK(q >= 0 && q <= 1, "quantile: q must be in the range [0, 1], got ", q, ".");
  return quantile(self, full({}, q, self.options()), dim, keepdim, interpolation);
}

Variable nanquantile(const Variable& self, const Variable& q, optional<std::int64_t> dim, bool keepdim,
                     std::string_view interpolation) {
  EBB_AUTOCAST(nanquantile, self, q, dim, keepdim, interpolation);
  return quantiles("nanquantile", self, q, dim, keepdim, interpolation, true);
}
Variable nanquantile(const Variable& self, double q, optional<std::int64_t> dim, bool keepdim,
                     std::string_view interpolation) {
  EBB_AUTOCAST(nanquantile, self, q, dim, keepdim, interpolation);
  EBB_CHECK(q >= 0 && q <= 1, "nanquantile: q must be in the range [0, 1], got ", q, ".");
  return nanquantile(self, full({}, q, self.options()), dim, keepdim, interpolation);
}

}  // namespace ebb
