// Bodies of the methods that reduce, scan and normalize: each calls the function of the same name.
#include <ebb/ops/elementwise/arithmetic.h>
#include <ebb/ops/reduce.h>

#include "ops/common/record.h"

namespace ebb::ops {

Variable ReduceMethods::sum(optional<ScalarType> dtype) const { return ebb::sum(self(this), dtype); }
Variable ReduceMethods::sum(OptionalIntArrayRef dim, bool keepdim, optional<ScalarType> dtype) const {
  return ebb::sum(self(this), dim, keepdim, dtype);
}
Variable ReduceMethods::mean(optional<ScalarType> dtype) const { return ebb::mean(self(this), dtype); }
Variable ReduceMethods::mean(OptionalIntArrayRef dim, bool keepdim, optional<ScalarType> dtype) const {
  return ebb::mean(self(this), dim, keepdim, dtype);
}
Variable ReduceMethods::nansum(OptionalIntArrayRef dim, bool keepdim, optional<ScalarType> dtype) const {
  return ebb::nansum(self(this), dim, keepdim, dtype);
}
Variable ReduceMethods::nanmean(OptionalIntArrayRef dim, bool keepdim, optional<ScalarType> dtype) const {
  return ebb::nanmean(self(this), dim, keepdim, dtype);
}
Variable ReduceMethods::prod(optional<ScalarType> dtype) const { return ebb::prod(self(this), dtype); }
Variable ReduceMethods::prod(std::int64_t dim, bool keepdim, optional<ScalarType> dtype) const {
  return ebb::prod(self(this), dim, keepdim, dtype);
}
Variable ReduceMethods::max() const { return ebb::max(self(this)); }
std::tuple<Variable, Variable> ReduceMethods::max(std::int64_t dim, bool keepdim) const {
  return ebb::max(self(this), dim, keepdim);
}
Variable ReduceMethods::max(const Variable& other) const { return ebb::max(self(this), other); }
Variable ReduceMethods::min() const { return ebb::min(self(this)); }
std::tuple<Variable, Variable> ReduceMethods::min(std::int64_t dim, bool keepdim) const {
  return ebb::min(self(this), dim, keepdim);
}
Variable ReduceMethods::min(const Variable& other) const { return ebb::min(self(this), other); }
Variable ReduceMethods::amax(IntArrayRef dim, bool keepdim) const {
  return ebb::amax(self(this), dim, keepdim);
}
Variable ReduceMethods::amin(IntArrayRef dim, bool keepdim) const {
  return ebb::amin(self(this), dim, keepdim);
}
std::tuple<Variable, Variable> ReduceMethods::aminmax(optional<std::int64_t> dim, bool keepdim) const {
  return ebb::aminmax(self(this), dim, keepdim);
}
Variable ReduceMethods::argmax(optional<std::int64_t> dim, bool keepdim) const {
  return ebb::argmax(self(this), dim, keepdim);
}
Variable ReduceMethods::argmin(optional<std::int64_t> dim, bool keepdim) const {
  return ebb::argmin(self(this), dim, keepdim);
}
Variable ReduceMethods::any() const { return ebb::any(self(this)); }
Variable ReduceMethods::any(std::int64_t dim, bool keepdim) const {
  return ebb::any(self(this), dim, keepdim);
}
Variable ReduceMethods::any(OptionalIntArrayRef dim, bool keepdim) const {
  return ebb::any(self(this), dim, keepdim);
}
Variable ReduceMethods::all(OptionalIntArrayRef dim, bool keepdim) const {
  return ebb::all(self(this), dim, keepdim);
}
Variable ReduceMethods::all() const { return ebb::all(self(this)); }
Variable ReduceMethods::all(std::int64_t dim, bool keepdim) const {
  return ebb::all(self(this), dim, keepdim);
}
Variable ReduceMethods::count_nonzero(std::int64_t dim) const { return ebb::count_nonzero(self(this), dim); }
Variable ReduceMethods::count_nonzero(IntArrayRef dim) const { return ebb::count_nonzero(self(this), dim); }
Variable ReduceMethods::count_nonzero(optional<std::int64_t> dim) const {
  return ebb::count_nonzero(self(this), dim);
}
Variable ReduceMethods::hash_tensor(IntArrayRef dim, bool keepdim, std::int64_t mode) const {
  return ebb::hash_tensor(self(this), dim, keepdim, mode);
}
Variable ReduceMethods::var(int dim) const { return ebb::var(self(this), dim); }
Variable ReduceMethods::var(std::initializer_list<std::int64_t> dim) const {
  return ebb::var(self(this), dim);
}
Variable ReduceMethods::var(bool unbiased) const { return ebb::var(self(this), unbiased); }
Variable ReduceMethods::var(OptionalIntArrayRef dim, bool unbiased, bool keepdim) const {
  return ebb::var(self(this), dim, unbiased, keepdim);
}
Variable ReduceMethods::var(OptionalIntArrayRef dim, const optional<Scalar>& correction, bool keepdim) const {
  return ebb::var(self(this), dim, correction, keepdim);
}
Variable ReduceMethods::std(int dim) const { return ebb::std(self(this), dim); }
Variable ReduceMethods::std(std::initializer_list<std::int64_t> dim) const {
  return ebb::std(self(this), dim);
}
Variable ReduceMethods::std(bool unbiased) const { return ebb::std(self(this), unbiased); }
Variable ReduceMethods::std(OptionalIntArrayRef dim, bool unbiased, bool keepdim) const {
  return ebb::std(self(this), dim, unbiased, keepdim);
}
Variable ReduceMethods::std(OptionalIntArrayRef dim, const optional<Scalar>& correction, bool keepdim) const {
  return ebb::std(self(this), dim, correction, keepdim);
}
Variable ReduceMethods::norm(const Scalar& p) const { return ebb::norm(self(this), p); }
Variable ReduceMethods::norm(const optional<Scalar>& p, ScalarType dtype) const {
  return ebb::norm(self(this), p, dtype);
}
Variable ReduceMethods::norm(const optional<Scalar>& p, IntArrayRef dim, bool keepdim) const {
  return ebb::norm(self(this), p, dim, keepdim);
}
Variable ReduceMethods::norm(const optional<Scalar>& p, IntArrayRef dim, bool keepdim,
                             ScalarType dtype) const {
  return ebb::norm(self(this), p, dim, keepdim, dtype);
}
Variable ReduceMethods::dist(const Variable& other, const Scalar& p) const {
  return ebb::dist(self(this), other, p);
}
Variable ReduceMethods::cov(std::int64_t correction) const { return ebb::cov(self(this), correction); }
Variable ReduceMethods::cov(std::int64_t correction, const optional<Variable>& fweights) const {
  return ebb::cov(self(this), correction, fweights);
}
Variable ReduceMethods::cov(std::int64_t correction, const optional<Variable>& fweights,
                            const optional<Variable>& aweights) const {
  return ebb::cov(self(this), correction, fweights, aweights);
}
Variable ReduceMethods::corrcoef() const { return ebb::corrcoef(self(this)); }
Variable ReduceMethods::renorm(const Scalar& p, std::int64_t dim, const Scalar& maxnorm) const {
  return ebb::renorm(self(this), p, dim, maxnorm);
}
Variable& ReduceMethods::renorm_(const Scalar& p, std::int64_t dim, const Scalar& maxnorm) const {
  return ebb::renorm_(self(this), p, dim, maxnorm);
}
Variable ReduceMethods::logsumexp(IntArrayRef dim, bool keepdim) const {
  return ebb::logsumexp(self(this), dim, keepdim);
}

Variable ReduceMethods::cumsum(std::int64_t dim, optional<ScalarType> dtype) const {
  return ebb::cumsum(self(this), dim, dtype);
}
Variable& ReduceMethods::cumsum_(std::int64_t dim, optional<ScalarType> dtype) const {
  return ebb::cumsum_(self(this), dim, dtype);
}
Variable ReduceMethods::cumprod(std::int64_t dim, optional<ScalarType> dtype) const {
  return ebb::cumprod(self(this), dim, dtype);
}
Variable& ReduceMethods::cumprod_(std::int64_t dim, optional<ScalarType> dtype) const {
  return ebb::cumprod_(self(this), dim, dtype);
}
Variable ReduceMethods::logcumsumexp(std::int64_t dim) const { return ebb::logcumsumexp(self(this), dim); }
std::tuple<Variable, Variable> ReduceMethods::cummax(std::int64_t dim) const {
  return ebb::cummax(self(this), dim);
}
std::tuple<Variable, Variable> ReduceMethods::cummin(std::int64_t dim) const {
  return ebb::cummin(self(this), dim);
}
Variable ReduceMethods::diff(std::int64_t n, std::int64_t dim) const { return ebb::diff(self(this), n, dim); }
Variable ReduceMethods::diff(std::int64_t n, std::int64_t dim, const optional<Variable>& prepend) const {
  return ebb::diff(self(this), n, dim, prepend);
}
Variable ReduceMethods::diff(std::int64_t n, std::int64_t dim, const optional<Variable>& prepend,
                             const optional<Variable>& append) const {
  return ebb::diff(self(this), n, dim, prepend, append);
}

Variable ReduceMethods::softmax(std::int64_t dim, optional<ScalarType> dtype) const {
  return ebb::softmax(self(this), dim, dtype);
}
Variable ReduceMethods::log_softmax(std::int64_t dim, optional<ScalarType> dtype) const {
  return ebb::log_softmax(self(this), dim, dtype);
}

}  // namespace ebb::ops
