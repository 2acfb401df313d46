// trapezoid and cumulative_trapezoid.
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/checks.h"

namespace ebb {
namespace {

void check_samples(const char* op, const Variable& y) {
  ops::check_defined(op, y);
  EBB_CHECK(y.dtype() != kBool, op, ": received a bool input, ", y,
            ", but bool is not supported. Convert it with .to(dtype).");
}

// Returns the distances of neighbours along `dim`, in a shape that broadcasts to that of y.
Variable distances(const char* op, const Variable& y, const Variable& x, std::int64_t dim) {
  EBB_CHECK(x.dtype() != kBool, op, ": received a bool input, ", x,
            ", but bool is not supported. Convert it with .to(dtype).");
  ops::common_device(op, y, x);
  DimVector sizes(static_cast<std::size_t>(y.dim()), 1);
  if (x.dim() == 1) {
    EBB_CHECK(x.size(0) == y.size(dim), op,
              ": there must be one x value for each sample point, got x of shape ", x.sizes(),
              " for y of shape ", y.sizes(), " along dimension ", dim, ".");
    sizes[dim] = x.size(0);
  } else {
    EBB_CHECK(x.dim() <= y.dim(), op, ": x of shape ", x.sizes(), " has more dimensions than y of shape ",
              y.sizes(), ".");
    std::copy(x.sizes().begin(), x.sizes().end(), sizes.end() - x.dim());
    EBB_CHECK(sizes[dim] == y.size(dim), op,
              ": there must be one x value for each sample point, got x of shape ", x.sizes(),
              " for y of shape ", y.sizes(), " along dimension ", dim, ".");
  }
  const Variable along = x.view(sizes);
  return along.slice(dim, 1) - along.slice(dim, 0, -1);
}

Variable pairs(const Variable& y, std::int64_t dim) { return y.slice(dim, 0, -1) + y.slice(dim, 1); }

Variable nothing(const Variable& y, std::int64_t dim) {
  DimVector sizes(y.sizes());
  sizes.erase(sizes.begin() + dim);
  return zeros(sizes, y.options().requires_grad(false));
}

}  // namespace

Variable trapezoid(const Variable& y, const Variable& x, std::int64_t dim) {
  check_samples("trapezoid", y);
  const std::int64_t d = wrap_dim("trapezoid", dim, y.dim());
  if (y.size(d) == 0) return nothing(y, d);
  return (pairs(y, d) * distances("trapezoid", y, x, d)).sum({d}) / 2;
}
Variable trapezoid(const Variable& y, const Scalar& dx, std::int64_t dim) {
  check_samples("trapezoid", y);
  const std::int64_t d = wrap_dim("trapezoid", dim, y.dim());
  EBB_CHECK(!dx.is_boolean(), "trapezoid: dx is a truth value; expected a number.");
  if (y.size(d) == 0) return nothing(y, d);
  return (y.sum({d}) - (y.select(d, 0) + y.select(d, -1)) * 0.5) * dx.to_double();
}

Variable cumulative_trapezoid(const Variable& y, const Variable& x, std::int64_t dim) {
  check_samples("cumulative_trapezoid", y);
  const std::int64_t d = wrap_dim("cumulative_trapezoid", dim, y.dim());
  return (pairs(y, d) * (distances("cumulative_trapezoid", y, x, d) / 2)).cumsum(d);
}
Variable cumulative_trapezoid(const Variable& y, const Scalar& dx, std::int64_t dim) {
  check_samples("cumulative_trapezoid", y);
  const std::int64_t d = wrap_dim("cumulative_trapezoid", dim, y.dim());
  return (pairs(y, d) * (dx.to_double() / 2)).cumsum(d);
}

}  // namespace ebb
