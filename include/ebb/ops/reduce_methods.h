// Bodies of the methods declared in ops/methods/reduce.h: each is the function with the tensor as first
// argument.
#pragma once

#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>

namespace ebb {

inline Variable ops::ReduceMethods::sum(optional<ScalarType> dtype) const {
  return ebb::sum(static_cast<const Variable&>(*this), dtype);
}
inline Variable ops::ReduceMethods::sum(OptionalIntArrayRef dim, bool keepdim,
                                        optional<ScalarType> dtype) const {
  return ebb::sum(static_cast<const Variable&>(*this), dim, keepdim, dtype);
}
inline Variable ops::ReduceMethods::mean(optional<ScalarType> dtype) const {
  return ebb::mean(static_cast<const Variable&>(*this), dtype);
}
inline Variable ops::ReduceMethods::mean(OptionalIntArrayRef dim, bool keepdim,
                                         optional<ScalarType> dtype) const {
  return ebb::mean(static_cast<const Variable&>(*this), dim, keepdim, dtype);
}
inline Variable ops::ReduceMethods::nansum(OptionalIntArrayRef dim, bool keepdim,
                                           optional<ScalarType> dtype) const {
  return ebb::nansum(static_cast<const Variable&>(*this), dim, keepdim, dtype);
}
inline Variable ops::ReduceMethods::nanmean(OptionalIntArrayRef dim, bool keepdim,
                                            optional<ScalarType> dtype) const {
  return ebb::nanmean(static_cast<const Variable&>(*this), dim, keepdim, dtype);
}
inline Variable ops::ReduceMethods::prod(optional<ScalarType> dtype) const {
  return ebb::prod(static_cast<const Variable&>(*this), dtype);
}
inline Variable ops::ReduceMethods::prod(std::int64_t dim, bool keepdim, optional<ScalarType> dtype) const {
  return ebb::prod(static_cast<const Variable&>(*this), dim, keepdim, dtype);
}
inline Variable ops::ReduceMethods::max() const { return ebb::max(static_cast<const Variable&>(*this)); }
inline Variable ops::ReduceMethods::min() const { return ebb::min(static_cast<const Variable&>(*this)); }
inline std::tuple<Variable, Variable> ops::ReduceMethods::max(std::int64_t dim, bool keepdim) const {
  return ebb::max(static_cast<const Variable&>(*this), dim, keepdim);
}
inline std::tuple<Variable, Variable> ops::ReduceMethods::min(std::int64_t dim, bool keepdim) const {
  return ebb::min(static_cast<const Variable&>(*this), dim, keepdim);
}
inline Variable ops::ReduceMethods::max(const Variable& other) const {
  return ebb::max(static_cast<const Variable&>(*this), other);
}
inline Variable ops::ReduceMethods::min(const Variable& other) const {
  return ebb::min(static_cast<const Variable&>(*this), other);
}
inline Variable ops::ReduceMethods::amax(IntArrayRef dim, bool keepdim) const {
  return ebb::amax(static_cast<const Variable&>(*this), dim, keepdim);
}
inline Variable ops::ReduceMethods::amin(IntArrayRef dim, bool keepdim) const {
  return ebb::amin(static_cast<const Variable&>(*this), dim, keepdim);
}
inline std::tuple<Variable, Variable> ops::ReduceMethods::aminmax(optional<std::int64_t> dim,
                                                                  bool keepdim) const {
  return ebb::aminmax(static_cast<const Variable&>(*this), dim, keepdim);
}
inline Variable ops::ReduceMethods::argmax(optional<std::int64_t> dim, bool keepdim) const {
  return ebb::argmax(static_cast<const Variable&>(*this), dim, keepdim);
}
inline Variable ops::ReduceMethods::argmin(optional<std::int64_t> dim, bool keepdim) const {
  return ebb::argmin(static_cast<const Variable&>(*this), dim, keepdim);
}
inline Variable ops::ReduceMethods::any() const { return ebb::any(static_cast<const Variable&>(*this)); }
inline Variable ops::ReduceMethods::any(std::int64_t dim, bool keepdim) const {
  return ebb::any(static_cast<const Variable&>(*this), dim, keepdim);
}
inline Variable ops::ReduceMethods::all() const { return ebb::all(static_cast<const Variable&>(*this)); }
inline Variable ops::ReduceMethods::all(std::int64_t dim, bool keepdim) const {
  return ebb::all(static_cast<const Variable&>(*this), dim, keepdim);
}
inline Variable ops::ReduceMethods::count_nonzero(std::int64_t dim) const {
  return ebb::count_nonzero(static_cast<const Variable&>(*this), dim);
}
inline Variable ops::ReduceMethods::count_nonzero(IntArrayRef dim) const {
  return ebb::count_nonzero(static_cast<const Variable&>(*this), dim);
}
inline Variable ops::ReduceMethods::count_nonzero(optional<std::int64_t> dim) const {
  return ebb::count_nonzero(static_cast<const Variable&>(*this), dim);
}
inline Variable ops::ReduceMethods::var(int dim) const {
  return ebb::var(static_cast<const Variable&>(*this), dim);
}
inline Variable ops::ReduceMethods::var(bool unbiased) const {
  return ebb::var(static_cast<const Variable&>(*this), unbiased);
}
inline Variable ops::ReduceMethods::var(OptionalIntArrayRef dim, bool unbiased, bool keepdim) const {
  return ebb::var(static_cast<const Variable&>(*this), dim, unbiased, keepdim);
}
inline Variable ops::ReduceMethods::var(OptionalIntArrayRef dim, optional<std::int64_t> correction,
                                        bool keepdim) const {
  return ebb::var(static_cast<const Variable&>(*this), dim, correction, keepdim);
}
inline Variable ops::ReduceMethods::std(int dim) const {
  return ebb::std(static_cast<const Variable&>(*this), dim);
}
inline Variable ops::ReduceMethods::std(bool unbiased) const {
  return ebb::std(static_cast<const Variable&>(*this), unbiased);
}
inline Variable ops::ReduceMethods::std(OptionalIntArrayRef dim, bool unbiased, bool keepdim) const {
  return ebb::std(static_cast<const Variable&>(*this), dim, unbiased, keepdim);
}
inline Variable ops::ReduceMethods::std(OptionalIntArrayRef dim, optional<std::int64_t> correction,
                                        bool keepdim) const {
  return ebb::std(static_cast<const Variable&>(*this), dim, correction, keepdim);
}
inline Variable ops::ReduceMethods::norm(const Scalar& p) const {
  return ebb::norm(static_cast<const Variable&>(*this), p);
}
inline Variable ops::ReduceMethods::norm(const optional<Scalar>& p, ScalarType dtype) const {
  return ebb::norm(static_cast<const Variable&>(*this), p, dtype);
}
inline Variable ops::ReduceMethods::norm(const optional<Scalar>& p, IntArrayRef dim, bool keepdim) const {
  return ebb::norm(static_cast<const Variable&>(*this), p, dim, keepdim);
}
inline Variable ops::ReduceMethods::norm(const optional<Scalar>& p, IntArrayRef dim, bool keepdim,
                                         ScalarType dtype) const {
  return ebb::norm(static_cast<const Variable&>(*this), p, dim, keepdim, dtype);
}
inline Variable ops::ReduceMethods::dist(const Variable& other, const Scalar& p) const {
  return ebb::dist(static_cast<const Variable&>(*this), other, p);
}
inline Variable ops::ReduceMethods::logsumexp(IntArrayRef dim, bool keepdim) const {
  return ebb::logsumexp(static_cast<const Variable&>(*this), dim, keepdim);
}

}  // namespace ebb
