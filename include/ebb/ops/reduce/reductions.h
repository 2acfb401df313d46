// Reductions: sum, mean, max, var, norm and others. Without dim, or with an empty list, they reduce all
// elements. keepdim keeps the reduced dimensions with size 1. A dim out of range throws IndexError, and a
// duplicate dim throws Error.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

/// The sum. Integers and bool are summed in Long. With a dtype, the elements are converted first. An empty
/// sum is 0. Float sums are pairwise; 16-bit types are summed in float. (torch.sum)
EBB_API Variable sum(const Variable& self, optional<ScalarType> dtype = nullopt);
EBB_API Variable sum(const Variable& self, OptionalIntArrayRef dim, bool keepdim = false,
                     optional<ScalarType> dtype = nullopt);

/// The sum divided by the number of elements; NaN without elements. Integers throw unless a floating dtype is
/// given. (torch.mean)
EBB_API Variable mean(const Variable& self, optional<ScalarType> dtype = nullopt);
EBB_API Variable mean(const Variable& self, OptionalIntArrayRef dim, bool keepdim = false,
                      optional<ScalarType> dtype = nullopt);

/// The sum and the mean of the elements that are not NaN. (torch.nansum, torch.nanmean)
EBB_API Variable nansum(const Variable& self, OptionalIntArrayRef dim = nullopt, bool keepdim = false,
                        optional<ScalarType> dtype = nullopt);
EBB_API Variable nanmean(const Variable& self, OptionalIntArrayRef dim = nullopt, bool keepdim = false,
                         optional<ScalarType> dtype = nullopt);

/// The product; Long for integers and bool, 1 without elements. The gradient is exact for elements that are
/// 0, to any order. (torch.prod)
EBB_API Variable prod(const Variable& self, optional<ScalarType> dtype = nullopt);
EBB_API Variable prod(const Variable& self, std::int64_t dim, bool keepdim = false,
                      optional<ScalarType> dtype = nullopt);

/// The largest or smallest element; NaN if an element is NaN. Ties share the gradient. Throws without
/// elements. (torch.max)
EBB_API Variable max(const Variable& self);
EBB_API Variable min(const Variable& self);
/// The largest or smallest element along `dim` and its first index: `auto [values, indices] = max(x, 1)`. The
/// gradient goes to the element at this index. (torch.max with dim)
EBB_API std::tuple<Variable, Variable> max(const Variable& self, std::int64_t dim, bool keepdim = false);
EBB_API std::tuple<Variable, Variable> min(const Variable& self, std::int64_t dim, bool keepdim = false);
/// The largest or smallest element over several dimensions. Ties share the gradient. This function and the
/// following ones up to argmin throw without elements. (torch.amax, torch.amin)
EBB_API Variable amax(const Variable& self, IntArrayRef dim = {}, bool keepdim = false);
EBB_API Variable amin(const Variable& self, IntArrayRef dim = {}, bool keepdim = false);
/// Returns (min, max). (torch.aminmax)
EBB_API std::tuple<Variable, Variable> aminmax(const Variable& self, optional<std::int64_t> dim = nullopt,
                                               bool keepdim = false);
/// The first index of the largest or smallest element (Long): along `dim`, or among all elements in row-major
/// order. (torch.argmax)
EBB_API Variable argmax(const Variable& self, optional<std::int64_t> dim = nullopt, bool keepdim = false);
EBB_API Variable argmin(const Variable& self, optional<std::int64_t> dim = nullopt, bool keepdim = false);

/// any() is true if at least one element is nonzero, and all() if all elements are nonzero. The result is
/// Bool, or Byte if self is Byte. Without elements any() is false and all() is true. (torch.any)
EBB_API Variable any(const Variable& self);
EBB_API Variable any(const Variable& self, std::int64_t dim, bool keepdim = false);
EBB_API Variable any(const Variable& self, OptionalIntArrayRef dim, bool keepdim = false);
EBB_API Variable all(const Variable& self);
EBB_API Variable all(const Variable& self, std::int64_t dim, bool keepdim = false);
EBB_API Variable all(const Variable& self, OptionalIntArrayRef dim, bool keepdim = false);
/// The number of nonzero elements. (torch.count_nonzero)
EBB_API Variable count_nonzero(const Variable& self, IntArrayRef dim);
EBB_API Variable count_nonzero(const Variable& self, optional<std::int64_t> dim = nullopt);
inline Variable count_nonzero(const Variable& self, std::int64_t dim) {
  return count_nonzero(self, IntArrayRef(dim));
}
/// A hash of the elements over the dimensions `dim`, or over all dimensions: the exclusive or of their bits,
/// each element as a Double or a Long. The result is Long (PyTorch's is a UInt64 with the same bits). Throws
/// for dimensions of size 0 and for modes other than 0. (torch.hash_tensor)
EBB_API Variable hash_tensor(const Variable& self, IntArrayRef dim = {}, bool keepdim = false,
                             std::int64_t mode = 0);

/// The variance: sum((x - mean)^2) / (count - correction), in two passes. The correction may be any number.
/// `unbiased` = true means a correction of 1, and false means 0. If count <= correction, the result is NaN or
/// inf. Floating dtypes. (torch.var)
EBB_API Variable var(const Variable& self, bool unbiased = true);
inline Variable var(const Variable& self, int dim);
inline Variable var(const Variable& self, std::initializer_list<std::int64_t> dim);
EBB_API Variable var(const Variable& self, OptionalIntArrayRef dim, bool unbiased = true,
                     bool keepdim = false);
EBB_API Variable var(const Variable& self, OptionalIntArrayRef dim, const optional<Scalar>& correction,
                     bool keepdim = false);
/// The square root of the variance. Its gradient is 0 where the standard deviation is 0. (torch.std)
EBB_API Variable std(const Variable& self, bool unbiased = true);
inline Variable std(const Variable& self, int dim);
inline Variable std(const Variable& self, std::initializer_list<std::int64_t> dim);
EBB_API Variable std(const Variable& self, OptionalIntArrayRef dim, bool unbiased = true,
                     bool keepdim = false);
EBB_API Variable std(const Variable& self, OptionalIntArrayRef dim, const optional<Scalar>& correction,
                     bool keepdim = false);
/// The variance or standard deviation, and the mean. (torch.var_mean, torch.std_mean)
EBB_API std::tuple<Variable, Variable> var_mean(const Variable& self, bool unbiased = true);
inline std::tuple<Variable, Variable> var_mean(const Variable& self, int dim);
inline std::tuple<Variable, Variable> var_mean(const Variable& self, std::initializer_list<std::int64_t> dim);
EBB_API std::tuple<Variable, Variable> var_mean(const Variable& self, OptionalIntArrayRef dim,
                                                bool unbiased = true, bool keepdim = false);
EBB_API std::tuple<Variable, Variable> var_mean(const Variable& self, OptionalIntArrayRef dim,
                                                const optional<Scalar>& correction, bool keepdim = false);
EBB_API std::tuple<Variable, Variable> std_mean(const Variable& self, bool unbiased = true);
inline std::tuple<Variable, Variable> std_mean(const Variable& self, int dim);
inline std::tuple<Variable, Variable> std_mean(const Variable& self, std::initializer_list<std::int64_t> dim);
EBB_API std::tuple<Variable, Variable> std_mean(const Variable& self, OptionalIntArrayRef dim,
                                                bool unbiased = true, bool keepdim = false);
EBB_API std::tuple<Variable, Variable> std_mean(const Variable& self, OptionalIntArrayRef dim,
                                                const optional<Scalar>& correction, bool keepdim = false);

// `var(x, 1)` and `var(x, {1})` mean dim = 1, not unbiased = true.
inline Variable var(const Variable& self, int dim) { return var(self, IntArrayRef({dim})); }
inline Variable var(const Variable& self, std::initializer_list<std::int64_t> dim) {
  return var(self, IntArrayRef(dim));
}
inline Variable std(const Variable& self, int dim) { return std(self, IntArrayRef({dim})); }
inline Variable std(const Variable& self, std::initializer_list<std::int64_t> dim) {
  return std(self, IntArrayRef(dim));
}
inline std::tuple<Variable, Variable> var_mean(const Variable& self, int dim) {
  return var_mean(self, IntArrayRef({dim}));
}
inline std::tuple<Variable, Variable> var_mean(const Variable& self,
                                               std::initializer_list<std::int64_t> dim) {
  return var_mean(self, IntArrayRef(dim));
}
inline std::tuple<Variable, Variable> std_mean(const Variable& self, int dim) {
  return std_mean(self, IntArrayRef({dim}));
}
inline std::tuple<Variable, Variable> std_mean(const Variable& self,
                                               std::initializer_list<std::int64_t> dim) {
  return std_mean(self, IntArrayRef(dim));
}

/// The p-norm (sum |x|^p)^(1/p). For p = 0 it is the number of nonzero elements. For p = inf it is the
/// largest absolute value, and for p = -inf the smallest; ties share the gradient. The gradient at a norm of
/// 0 is 0. Floating dtypes; with a dtype, x is converted first. (torch.norm)
EBB_API Variable norm(const Variable& self, const Scalar& p = 2);
EBB_API Variable norm(const Variable& self, const optional<Scalar>& p, ScalarType dtype);
EBB_API Variable norm(const Variable& self, const optional<Scalar>& p, IntArrayRef dim, bool keepdim = false);
EBB_API Variable norm(const Variable& self, const optional<Scalar>& p, IntArrayRef dim, bool keepdim,
                      ScalarType dtype);
EBB_API Variable linalg_vector_norm(const Variable& self, const Scalar& ord = 2,
                                    OptionalIntArrayRef dim = nullopt, bool keepdim = false,
                                    optional<ScalarType> dtype = nullopt);
/// The square root of the sum of squares. (torch.norm with p = "fro")
EBB_API Variable frobenius_norm(const Variable& self, IntArrayRef dim = {}, bool keepdim = false);
namespace linalg {
/// The p-norm over `dim`, or over all elements. (torch.linalg.vector_norm)
inline Variable vector_norm(const Variable& self, const Scalar& ord, OptionalIntArrayRef dim = nullopt,
                            bool keepdim = false, optional<ScalarType> dtype = nullopt) {
  return linalg_vector_norm(self, ord, dim, keepdim, dtype);
}
}  // namespace linalg
/// The p-norm of self - other. (torch.dist)
EBB_API Variable dist(const Variable& self, const Variable& other, const Scalar& p = 2);
/// log(sum(exp(x))) without overflow. The result is -inf if there are no elements or if all elements are
/// -inf. In the second case the gradient is NaN, as in torch. (torch.logsumexp)
EBB_API Variable logsumexp(const Variable& self, IntArrayRef dim, bool keepdim = false);

/// The covariance matrix of the variables in the rows of self, [v, n] -> [v, v]. A vector is one variable and
/// gives a tensor without dimensions. Sums are divided by n - correction. fweights, [n] integers, are
/// repetition counts of the observations; aweights, [n] floating, are their weights. (torch.cov)
EBB_API Variable cov(const Variable& self, std::int64_t correction = 1,
                     const optional<Variable>& fweights = {}, const optional<Variable>& aweights = {});
/// The correlation coefficients, in [-1, 1]: cov(self) divided by the standard deviations of both variables.
/// (torch.corrcoef)
EBB_API Variable corrcoef(const Variable& self);

/// Scales down slices along `dim` whose p-norm exceeds maxnorm, so that their norm is maxnorm. (torch.renorm)
EBB_API Variable renorm(const Variable& self, const Scalar& p, std::int64_t dim, const Scalar& maxnorm);
EBB_API Variable& renorm_(const Variable& self, const Scalar& p, std::int64_t dim, const Scalar& maxnorm);

}  // namespace ebb
