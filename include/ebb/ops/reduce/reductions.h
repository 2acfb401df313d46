// Reductions: many elements into one. Without a dim, or with an empty list, all elements; keepdim leaves 1 in
// the places of the reduced dimensions. A dim out of range is an IndexError, one named twice an Error.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

/// The sum. Integers and bool add up in Long; a dtype converts the elements first. 0 over nothing. Float sums
/// are pairwise; 16-bit types add up in float. (torch.sum)
EBB_API Variable sum(const Variable& self, optional<ScalarType> dtype = nullopt);
EBB_API Variable sum(const Variable& self, OptionalIntArrayRef dim, bool keepdim = false,
                     optional<ScalarType> dtype = nullopt);

/// The sum divided by the number of elements; NaN over nothing. Integers throw unless a floating dtype is
/// given. (torch.mean)
EBB_API Variable mean(const Variable& self, optional<ScalarType> dtype = nullopt);
EBB_API Variable mean(const Variable& self, OptionalIntArrayRef dim, bool keepdim = false,
                      optional<ScalarType> dtype = nullopt);

/// The sum and the mean of what is not NaN. (torch.nansum, torch.nanmean)
EBB_API Variable nansum(const Variable& self, OptionalIntArrayRef dim = nullopt, bool keepdim = false,
                        optional<ScalarType> dtype = nullopt);
EBB_API Variable nanmean(const Variable& self, OptionalIntArrayRef dim = nullopt, bool keepdim = false,
                         optional<ScalarType> dtype = nullopt);

/// The product; Long for integers and bool, 1 over nothing. The gradient is exact where elements are 0, to
/// any order. (torch.prod)
EBB_API Variable prod(const Variable& self, optional<ScalarType> dtype = nullopt);
EBB_API Variable prod(const Variable& self, std::int64_t dim, bool keepdim = false,
                      optional<ScalarType> dtype = nullopt);

/// The largest or smallest element; NaN if there is one. Equal ones share the gradient. Throws over nothing.
/// (torch.max)
EBB_API Variable max(const Variable& self);
EBB_API Variable min(const Variable& self);
/// The largest or smallest element along `dim` and where it first stands: `auto [values, indices] = max(x,
/// 1)`. The gradient goes to that place. (torch.max with dim)
EBB_API std::tuple<Variable, Variable> max(const Variable& self, std::int64_t dim, bool keepdim = false);
EBB_API std::tuple<Variable, Variable> min(const Variable& self, std::int64_t dim, bool keepdim = false);
/// The largest or smallest element over several dimensions; equal ones share the gradient. This and all that
/// follow up to argmin throw over nothing. (torch.amax, torch.amin)
EBB_API Variable amax(const Variable& self, IntArrayRef dim = {}, bool keepdim = false);
EBB_API Variable amin(const Variable& self, IntArrayRef dim = {}, bool keepdim = false);
/// Both at once: (min, max). (torch.aminmax)
EBB_API std::tuple<Variable, Variable> aminmax(const Variable& self, optional<std::int64_t> dim = nullopt,
                                               bool keepdim = false);
/// The first index of the largest or smallest element (Long): along `dim`, or among all elements in row-major
/// order. (torch.argmax)
EBB_API Variable argmax(const Variable& self, optional<std::int64_t> dim = nullopt, bool keepdim = false);
EBB_API Variable argmin(const Variable& self, optional<std::int64_t> dim = nullopt, bool keepdim = false);

/// Whether any, or all, elements are other than 0: Bool, but Byte for Byte. Over nothing false and true.
/// (torch.any)
EBB_API Variable any(const Variable& self);
EBB_API Variable any(const Variable& self, std::int64_t dim, bool keepdim = false);
EBB_API Variable any(const Variable& self, OptionalIntArrayRef dim, bool keepdim = false);
EBB_API Variable all(const Variable& self);
EBB_API Variable all(const Variable& self, std::int64_t dim, bool keepdim = false);
EBB_API Variable all(const Variable& self, OptionalIntArrayRef dim, bool keepdim = false);
/// How many elements are other than 0. (torch.count_nonzero)
EBB_API Variable count_nonzero(const Variable& self, IntArrayRef dim);
EBB_API Variable count_nonzero(const Variable& self, optional<std::int64_t> dim = nullopt);
inline Variable count_nonzero(const Variable& self, std::int64_t dim) {
  return count_nonzero(self, IntArrayRef(dim));
}
/// A hash of the elements over the dimensions `dim`, or over all: their bits, each as a Double or a Long, by
/// exclusive or, in a Long (PyTorch's has the same bits in an UInt64). Dimensions of size 0 and modes other
/// than 0 are errors. (torch.hash_tensor)
EBB_API Variable hash_tensor(const Variable& self, IntArrayRef dim = {}, bool keepdim = false,
                             std::int64_t mode = 0);

/// The variance: sum((x - mean)^2) / (count - correction), in two passes. The correction is any number;
/// unbiased stands for one of 1, else 0. NaN or inf without a degree of freedom. Floating dtypes. (torch.var)
EBB_API Variable var(const Variable& self, bool unbiased = true);
inline Variable var(const Variable& self, int dim);
inline Variable var(const Variable& self, std::initializer_list<std::int64_t> dim);
EBB_API Variable var(const Variable& self, OptionalIntArrayRef dim, bool unbiased = true,
                     bool keepdim = false);
EBB_API Variable var(const Variable& self, OptionalIntArrayRef dim, const optional<Scalar>& correction,
                     bool keepdim = false);
/// The square root of the variance; its gradient is 0 where it is 0. (torch.std)
EBB_API Variable std(const Variable& self, bool unbiased = true);
inline Variable std(const Variable& self, int dim);
inline Variable std(const Variable& self, std::initializer_list<std::int64_t> dim);
EBB_API Variable std(const Variable& self, OptionalIntArrayRef dim, bool unbiased = true,
                     bool keepdim = false);
EBB_API Variable std(const Variable& self, OptionalIntArrayRef dim, const optional<Scalar>& correction,
                     bool keepdim = false);
/// Both with the mean. (torch.var_mean, torch.std_mean)
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

// A number is a dimension, not a truth value, in braces too.
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

/// The p-norm (sum |x|^p)^(1/p); the count of non-zeros for p = 0, the largest or smallest magnitude for p =
/// inf or -inf, whose gradient equal elements share. The gradient at a norm of 0 is 0. Floating dtypes; a
/// dtype converts x first. (torch.norm)
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
/// The p-norm over `dim`, or over everything. (torch.linalg.vector_norm)
inline Variable vector_norm(const Variable& self, const Scalar& ord, OptionalIntArrayRef dim = nullopt,
                            bool keepdim = false, optional<ScalarType> dtype = nullopt) {
  return linalg_vector_norm(self, ord, dim, keepdim, dtype);
}
}  // namespace linalg
/// The p-norm of the difference. (torch.dist)
EBB_API Variable dist(const Variable& self, const Variable& other, const Scalar& p = 2);
/// log(sum(exp(x))) without overflow. -inf over nothing and where all elements are -inf; the gradient there
/// is NaN, as in torch. (torch.logsumexp)
EBB_API Variable logsumexp(const Variable& self, IntArrayRef dim, bool keepdim = false);

/// The covariance matrix of variables, the rows of self, [v, n] -> [v, v]; a vector is one variable and gives
/// a number. Sums are divided by n - correction. fweights, [n] integers, say how often each observation is
/// counted, aweights, [n] floating numbers, its weight. (torch.cov)
EBB_API Variable cov(const Variable& self, std::int64_t correction = 1,
                     const optional<Variable>& fweights = {}, const optional<Variable>& aweights = {});
/// The correlation coefficients: cov(self) over the deviations of both variables, in [-1, 1].
/// (torch.corrcoef)
EBB_API Variable corrcoef(const Variable& self);

/// Slices along `dim`, those whose p-norm exceeds maxnorm scaled down to it. (torch.renorm)
EBB_API Variable renorm(const Variable& self, const Scalar& p, std::int64_t dim, const Scalar& maxnorm);
EBB_API Variable& renorm_(const Variable& self, const Scalar& p, std::int64_t dim, const Scalar& maxnorm);

}  // namespace ebb
