// Scans along one dimension: cumsum, cumprod, cummax and others. Also diff, trapezoid and gradient.
#pragma once

#include <ebb/autograd/variable.h>

#include <type_traits>
#include <vector>

namespace ebb {

/// Cumulative sums. Integers and bool are summed in Long. (torch.cumsum)
EBB_API Variable cumsum(const Variable& self, std::int64_t dim, optional<ScalarType> dtype = nullopt);
EBB_API Variable& cumsum_(const Variable& self, std::int64_t dim, optional<ScalarType> dtype = nullopt);
/// Cumulative products. The gradient is exact for elements that are 0, to any order. (torch.cumprod)
EBB_API Variable cumprod(const Variable& self, std::int64_t dim, optional<ScalarType> dtype = nullopt);
EBB_API Variable& cumprod_(const Variable& self, std::int64_t dim, optional<ScalarType> dtype = nullopt);
/// log(cumsum(exp(x))) without overflow. (torch.logcumsumexp)
EBB_API Variable logcumsumexp(const Variable& self, std::int64_t dim);
/// The cumulative maximum and its index (the last one of ties). NaN counts as the largest. (torch.cummax)
EBB_API std::tuple<Variable, Variable> cummax(const Variable& self, std::int64_t dim);
/// The cumulative minimum and its index. (torch.cummin)
EBB_API std::tuple<Variable, Variable> cummin(const Variable& self, std::int64_t dim);

/// The n-th differences of consecutive elements along `dim`. `prepend` and `append` are first concatenated
/// with self. (torch.diff)
EBB_API Variable diff(const Variable& self, std::int64_t n = 1, std::int64_t dim = -1,
                      const optional<Variable>& prepend = {}, const optional<Variable>& append = {});

/// y[i] = x[i] + links[i - 1] * y[i - 1] along `dim`. If `reverse`, computes y[i] = x[i] + links[i] * y[i +
/// 1], from the last element on. links has one element fewer than x along `dim`, because each link is a
/// factor between two neighbours. Floating dtypes. The op is differentiable. Gradients of cumulative products
/// are computed with it.
EBB_API Variable linear_recurrence(const Variable& x, const Variable& links, std::int64_t dim,
                                   bool reverse = false);

/// The integral of samples y along `dim` by the trapezoidal rule: the sum of (x[i + 1] - x[i]) (y[i] + y[i +
/// 1]) / 2. x has one value for each sample along `dim`, or broadcasts to y. The integral of no samples is 0.
/// Throws for Bool. (torch.trapezoid)
EBB_API Variable trapezoid(const Variable& y, const Variable& x, std::int64_t dim = -1);
/// The integral of samples at the constant distance dx.
EBB_API Variable trapezoid(const Variable& y, const Scalar& dx = 1, std::int64_t dim = -1);
inline Variable trapz(const Variable& y, const Variable& x, std::int64_t dim = -1) {
  return trapezoid(y, x, dim);
}
inline Variable trapz(const Variable& y, double dx = 1, std::int64_t dim = -1) {
  return trapezoid(y, Scalar(dx), dim);
}
/// The integrals up to each sample except the first. The result has one element fewer along `dim`.
/// (torch.cumulative_trapezoid)
EBB_API Variable cumulative_trapezoid(const Variable& y, const Variable& x, std::int64_t dim = -1);
EBB_API Variable cumulative_trapezoid(const Variable& y, const Scalar& dx = 1, std::int64_t dim = -1);

/// Returns derivatives of a sampled function along `dim`, or along each dimension, each in self's shape. They
/// are central differences (exact for parabolas). At both ends they are differences of order edge_order, 1 or
/// 2. `spacing` is the distance of samples (one number, or one for each dimension), or the coordinates of the
/// samples (one vector for each dimension). Needs edge_order + 1 samples along each dimension.
/// (torch.gradient)
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

// The first number after self is a spacing and the second a dimension, whatever their types.
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
