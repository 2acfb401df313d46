// Bodies of the methods of the sort family.
#pragma once

#include <ebb/ops/sort.h>

namespace ebb {

inline std::tuple<Variable, Variable> ops::ReduceMethods::sort(std::int64_t dim, bool descending) const {
  return ebb::sort(static_cast<const Variable&>(*this), dim, descending);
}
inline std::tuple<Variable, Variable> ops::ReduceMethods::sort(optional<bool> stable, std::int64_t dim,
                                                               bool descending) const {
  return ebb::sort(static_cast<const Variable&>(*this), stable, dim, descending);
}
inline Variable ops::ReduceMethods::argsort(std::int64_t dim, bool descending) const {
  return ebb::argsort(static_cast<const Variable&>(*this), dim, descending);
}
inline Variable ops::ReduceMethods::argsort(bool stable, std::int64_t dim, bool descending) const {
  return ebb::argsort(static_cast<const Variable&>(*this), stable, dim, descending);
}
inline Variable ops::ReduceMethods::msort() const { return ebb::msort(static_cast<const Variable&>(*this)); }
inline std::tuple<Variable, Variable> ops::ReduceMethods::topk(std::int64_t k, std::int64_t dim, bool largest,
                                                               bool sorted) const {
  return ebb::topk(static_cast<const Variable&>(*this), k, dim, largest, sorted);
}
inline std::tuple<Variable, Variable> ops::ReduceMethods::kthvalue(std::int64_t k, std::int64_t dim,
                                                                   bool keepdim) const {
  return ebb::kthvalue(static_cast<const Variable&>(*this), k, dim, keepdim);
}
inline Variable ops::ReduceMethods::median() const {
  return ebb::median(static_cast<const Variable&>(*this));
}
inline std::tuple<Variable, Variable> ops::ReduceMethods::median(std::int64_t dim, bool keepdim) const {
  return ebb::median(static_cast<const Variable&>(*this), dim, keepdim);
}
inline Variable ops::ReduceMethods::nanmedian() const {
  return ebb::nanmedian(static_cast<const Variable&>(*this));
}
inline std::tuple<Variable, Variable> ops::ReduceMethods::nanmedian(std::int64_t dim, bool keepdim) const {
  return ebb::nanmedian(static_cast<const Variable&>(*this), dim, keepdim);
}
inline std::tuple<Variable, Variable> ops::ReduceMethods::mode(std::int64_t dim, bool keepdim) const {
  return ebb::mode(static_cast<const Variable&>(*this), dim, keepdim);
}
inline Variable ops::ReduceMethods::quantile(const Variable& q, optional<std::int64_t> dim, bool keepdim,
                                             std::string_view interpolation) const {
  return ebb::quantile(static_cast<const Variable&>(*this), q, dim, keepdim, interpolation);
}
inline Variable ops::ReduceMethods::quantile(double q, optional<std::int64_t> dim, bool keepdim,
                                             std::string_view interpolation) const {
  return ebb::quantile(static_cast<const Variable&>(*this), q, dim, keepdim, interpolation);
}
inline Variable ops::ReduceMethods::bincount() const {
  return ebb::bincount(static_cast<const Variable&>(*this));
}
inline Variable ops::ReduceMethods::bincount(const optional<Variable>& weights,
                                             std::int64_t minlength) const {
  return ebb::bincount(static_cast<const Variable&>(*this), weights, minlength);
}
inline Variable ops::ReduceMethods::histc(std::int64_t bins, const Scalar& min, const Scalar& max) const {
  return ebb::histc(static_cast<const Variable&>(*this), bins, min, max);
}

}  // namespace ebb
