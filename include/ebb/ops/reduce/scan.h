// Along one dimension: running sums, products and extrema, differences, integrals and derivatives.
#pragma once

#include <ebb/autograd/variable.h>

#include <type_traits>
#include <vector>

namespace ebb {

/// Sums of the elements up to each place; integers and bool add up in Long. (torch.cumsum)
EBB_API Variable cumsum(const Variable& self, std::int64_t dim, optional<ScalarType> dtype = nullopt);
EBB_API Variable& cumsum_(const Variable& self, std::int64_t dim, optional<ScalarType> dtype = nullopt);
/// Products of the elements up to each place. The gradient is exact where elements are 0, to any order.
/// (torch.cumprod)
EBB_API Variable cumprod(const Variable& self, std::int64_t dim, optional<ScalarType> dtype = nullopt);
EBB_API Variable& cumprod_(const Variable& self, std::int64_t dim, optional<ScalarType> dtype = nullopt);
/// log(cumsum(exp(x))) without overflow. (torch.logcumsumexp)
EBB_API Variable logcumsumexp(const Variable& self, std::int64_t dim);
/// The largest element up to each place and where it stands: the last of equals. NaN wins. (torch.cummax)
EBB_API std::tuple<Variable, Variable> cummax(const Variable& self, std::int64_t dim);
/// The smallest element up to each place and where it stands. (torch.cummin)
EBB_API std::tuple<Variable, Variable> cummin(const Variable& self, std::int64_t dim);

/// The n-th difference of neighbours along `dim`; `prepend` and `append` lengthen x first. (torch.diff)
EBB_API Variable diff(const Variable& self, std::int64_t n = 1, std::int64_t dim = -1,
                      const optional<Variable>& prepend = {}, const optional<Variable>& append = {});

/// y[i] = x[i] + links[i - 1] * y[i - 1] along `dim`; from the end backwards, y[i] = x[i] + links[i] * y[i +
/// 1], if `reverse`. links has one element fewer than x: the factors between neighbours. Floating dtypes.
/// Gradients of cumulative products are computed with it. Differentiable.
EBB_API Variable linear_recurrence(const Variable& x, const Variable& links, std::int64_t dim,
                                   bool reverse = false);

/// The integral of samples y along `dim` by the trapezoidal rule: the sum of (x[i + 1] - x[i]) (y[i] + y[i +
/// 1]) / 2. x has a value for each sample, or broadcasts to y with it along `dim`. No samples give 0. Throws
/// for Bool. (torch.trapezoid)
EBB_API Variable trapezoid(const Variable& y, const Variable& x, std::int64_t dim = -1);
/// The samples are dx apart.
EBB_API Variable trapezoid(const Variable& y, const Scalar& dx = 1, std::int64_t dim = -1);
inline Variable trapz(const Variable& y, const Variable& x, std::int64_t dim = -1) {
  return trapezoid(y, x, dim);
}
inline Variable trapz(const Variable& y, double dx = 1, std::int64_t dim = -1) {
  return trapezoid(y, Scalar(dx), dim);
}
/// The same up to each sample but the first: one element fewer along `dim`. (torch.cumulative_trapezoid)
EBB_API Variable cumulative_trapezoid(const Variable& y, const Variable& x, std::int64_t dim = -1);
EBB_API Variable cumulative_trapezoid(const Variable& y, const Scalar& dx = 1, std::int64_t dim = -1);

/// Derivatives of a sampled function along `dim`, or along each dimension, each of self's shape: central
/// differences, exact for parabolas, and at both ends differences of order edge_order, 1 or 2. `spacing` is
/// the distance of samples, one for all dimensions or one each, or their coordinates, a vector a dimension.
/// Needs edge_order + 1 samples along each. (torch.gradient)
EBB_API std::vector<Variable> gradient(const Variable& self, const optional<Scalar>& spacing = nullopt,
                                       optional<std::int64_t> dim = nullopt, std::int64_t edge_order = 1);
EBB_API std::vector<Variable> gradient(const Variable& self, const Scalar& spacing, IntArrayRef dim,
                                       std::int64_t edge_order = 1);
EBB_API std::vector<Variable> gradient(const Variable& self, IntArrayRef dim, std::int64_t edge_order = 1);
EBB_API std::vector<Variable> gradient(const Variable& self, ArrayRef<Scalar> spacing,
                                       optional<std::int64_t> dim = nullopt, std::int64_t edge_order = 1);
EBB_API std::vector<Variable> gradient(const Variable& self, ArrayRef<Scalar> spacing, IntArrayRef dim,
                                       std::int64_t edge_order = 1);
EBB_API std::vector<Variable> gradient(const Variable& self, TensorList spacing,
                                       optional<std::int64_t> dim = nullopt, std::int64_t edge_order = 1);
EBB_API std::vector<Variable> gradient(const Variable& self, TensorList spacing, IntArrayRef dim,
                                       std::int64_t edge_order = 1);

// A number behind self is a spacing, and the next one a dimension, whatever kind of number they are.
template <class Number>
  requires std::is_arithmetic_v<Number>
std::vector<Variable> gradient(const Variable& self, Number spacing) {
  return gradient(self, optional<Scalar>(spacing), optional<std::int64_t>());
}
template <class Number>
  requires std::is_arithmetic_v<Number>
std::vector<Variable> gradient(const Variable& self, Number spacing, int dim, std::int64_t edge_order = 1) {
  return gradient(self, optional<Scalar>(spacing), optional<std::int64_t>(dim), edge_order);
}

}  // namespace ebb
