// Running sums, products and extrema along one dimension.
#pragma once

#include <ebb/autograd/variable.h>

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
/// What gradients of cumulative products are made of. Differentiable.
EBB_API Variable linear_recurrence(const Variable& x, const Variable& links, std::int64_t dim,
                                   bool reverse = false);

}  // namespace ebb
