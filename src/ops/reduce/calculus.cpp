// Derivatives and integrals of sampled functions: diff, gradient, trapezoid and cumulative_trapezoid.
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/common/checks.h"
#include "ops/common/views.h"

#include <numeric>

namespace ebb {

Variable diff(const Variable& self, std::int64_t n, std::int64_t dim, const optional<Variable>& prepend,
              const optional<Variable>& append) {
  EBB_CHECK(self.dim() >= 1, "diff: expected a tensor of at least one dimension, got ", self, ".");
  EBB_CHECK(n >= 0, "diff: the order must not be negative, got ", n, ".");
  const std::int64_t d = wrap_dim("diff", dim, self.dim());
  if (n == 0) return self.clone();
  Variable x = self;
  if (prepend && prepend->defined()) x = cat({*prepend, x}, d);
  if (append && append->defined()) x = cat({x, *append}, d);
  for (n = std::min(n, x.size(d)); n > 0; --n) {
    const std::int64_t rest = x.size(d) - 1;
    const Variable ahead = x.narrow(d, 1, rest), behind = x.narrow(d, 0, rest);
    x = x.dtype() == kBool ? ahead.logical_xor(behind) : ahead - behind;
  }
  return x;
}

namespace {

void check_samples(const char* op, const Variable& y) {
  ops::check_defined(op, y);
  EBB_CHECK(y.dtype() != kBool, op, ": received a bool input, ", y,
            ", but bool is not supported. Convert it with .to(dtype).");
}

// Returns the distances between neighbours along `dim`, in a shape that broadcasts to the shape of y.
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
  EBB_CHECK(!dx.is_boolean(), "trapezoid: dx must be a number, got a bool.");
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

namespace {

struct Request {
  const Variable& self;
  DimVector dims;
  std::int64_t edge_order;
};

DimVector every_dim(const Variable& self) {
  DimVector dims(static_cast<std::size_t>(self.dim()), 0);
  std::iota(dims.begin(), dims.end(), 0);
  return dims;
}

Request checked(const Variable& self, OptionalIntArrayRef dim, std::int64_t edge_order,
                std::int64_t spacings) {
  ops::check_defined("gradient", self);
  EBB_CHECK(self.dtype() != kByte && self.dtype() != kBool, "gradient: does not support ", self.dtype(),
            " input. Convert it with .to(dtype).");
  EBB_CHECK(edge_order == 1 || edge_order == 2, "gradient: only supports edge_order=1 and edge_order=2, got ",
            edge_order, ".");
  Request request{self, dim ? ops::distinct_dims("gradient", *dim, self.dim()) : every_dim(self), edge_order};
  EBB_CHECK(spacings < 0 || spacings == static_cast<std::int64_t>(request.dims.size()),
            "gradient: expected spacing to be a number or one for each of ", request.dims.size(),
            " dimensions, got ", spacings, ".");
  for (const std::int64_t d : request.dims)
    EBB_CHECK(self.size(d) > edge_order,
              "gradient: expected each dimension size to be at least edge_order+1 = ", edge_order + 1,
              ", got shape ", self.sizes(), " and dimension ", d, ".");
  return request;
}

// Returns the differences along one dimension, for samples at the constant distance h.
Variable evenly(const Request& r, std::int64_t d, double h) {
  const Variable& f = r.self;
  const std::int64_t n = f.size(d);
  const auto at = [&](std::int64_t i) { return f.narrow(d, i, 1); };
  const auto inner = [&](std::int64_t first) { return f.narrow(d, first, n - 2); };
  Variable left, right;
  if (r.edge_order == 1) {
    left = (at(1) - at(0)) / h;
    right = (at(n - 1) - at(n - 2)) / h;
  } else {
    left = (at(0) * -1.5 + at(1) * 2 - at(2) * 0.5) / h;
    right = (at(n - 3) * 0.5 - at(n - 2) * 2 + at(n - 1) * 1.5) / h;
  }
  return cat({left, (inner(2) - inner(0)) / (2 * h), right}, d);
}

// Returns derivatives for samples at the positions `places`. They are the derivatives of the parabolas
// through three neighbours.
Variable unevenly(const Request& r, std::int64_t d, const Variable& places) {
  const Variable& f = r.self;
  const std::int64_t n = f.size(d);
  ops::common_device("gradient", f, places);
  EBB_CHECK(places.dim() == 1 && places.size(0) == n, "gradient: expected the coordinates of dimension ", d,
            " as a vector of ", n, " elements, got shape ", places.sizes(), ".");
  DimVector sizes(static_cast<std::size_t>(f.dim()), 1);
  sizes[d] = n;
  const Variable x = places.view(sizes), steps = x.narrow(d, 1, n - 1) - x.narrow(d, 0, n - 1);
  const auto at = [&](std::int64_t i) { return f.narrow(d, i, 1); };
  const auto step = [&](std::int64_t i) { return steps.narrow(d, i, 1); };
  const auto inner = [&](std::int64_t first) { return f.narrow(d, first, n - 2); };
  const Variable a = steps.narrow(d, 0, n - 2), b = steps.narrow(d, 1, n - 2);
  const Variable middle =
      inner(0) * (-b / (a * (a + b))) + inner(1) * ((b - a) / (a * b)) + inner(2) * (a / (b * (a + b)));
  Variable left, right;
  if (r.edge_order == 1) {
    left = (at(1) - at(0)) / step(0);
    right = (at(n - 1) - at(n - 2)) / step(n - 2);
  } else {
    const Variable p = step(0), q = step(1), u = step(n - 3), v = step(n - 2);
    left =
        at(0) * (-(p * 2 + q) / (p * (p + q))) + at(1) * ((p + q) / (p * q)) + at(2) * (-p / (q * (p + q)));
    right = at(n - 3) * (v / (u * (u + v))) + at(n - 2) * (-(v + u) / (u * v)) +
            at(n - 1) * ((v * 2 + u) / (v * (u + v)));
  }
  return cat({left, middle, right}, d);
}

std::vector<Variable> with_numbers(const Request& r, ArrayRef<Scalar> spacing) {
  std::vector<Variable> out;
  for (std::size_t i = 0; i < r.dims.size(); ++i) out.push_back(evenly(r, r.dims[i], spacing[i].to_double()));
  return out;
}
std::vector<Variable> with_number(const Request& r, const Scalar& spacing) {
  return with_numbers(r, std::vector<Scalar>(r.dims.size(), spacing));
}
std::vector<Variable> with_places(const Request& r, TensorList spacing) {
  std::vector<Variable> out;
  for (std::size_t i = 0; i < r.dims.size(); ++i) out.push_back(unevenly(r, r.dims[i], spacing[i]));
  return out;
}

std::int64_t count(std::size_t n) { return static_cast<std::int64_t>(n); }

}  // namespace

std::vector<Variable> gradient(const Variable& self, const optional<Scalar>& spacing,
                               optional<std::int64_t> dim, std::int64_t edge_order) {
  const DimVector one(1, dim.value_or(0));
  return with_number(checked(self, dim ? OptionalIntArrayRef(IntArrayRef(one)) : nullopt, edge_order, -1),
                     spacing.value_or(1));
}
std::vector<Variable> gradient(const Variable& self, const Scalar& spacing, IntArrayRef dim,
                               std::int64_t edge_order) {
  return with_number(checked(self, dim, edge_order, -1), spacing);
}
std::vector<Variable> gradient(const Variable& self, IntArrayRef dim, std::int64_t edge_order) {
  return with_number(checked(self, dim, edge_order, -1), 1);
}
std::vector<Variable> gradient(const Variable& self, ArrayRef<Scalar> spacing, optional<std::int64_t> dim,
                               std::int64_t edge_order) {
  const DimVector one(1, dim.value_or(0));
  return with_numbers(
      checked(self, dim ? OptionalIntArrayRef(IntArrayRef(one)) : nullopt, edge_order, count(spacing.size())),
      spacing);
}
std::vector<Variable> gradient(const Variable& self, ArrayRef<Scalar> spacing, IntArrayRef dim,
                               std::int64_t edge_order) {
  return with_numbers(checked(self, dim, edge_order, count(spacing.size())), spacing);
}
std::vector<Variable> gradient(const Variable& self, TensorList spacing, optional<std::int64_t> dim,
                               std::int64_t edge_order) {
  const DimVector one(1, dim.value_or(0));
  return with_places(
      checked(self, dim ? OptionalIntArrayRef(IntArrayRef(one)) : nullopt, edge_order, count(spacing.size())),
      spacing);
}
std::vector<Variable> gradient(const Variable& self, TensorList spacing, IntArrayRef dim,
                               std::int64_t edge_order) {
  return with_places(checked(self, dim, edge_order, count(spacing.size())), spacing);
}

}  // namespace ebb
