// Bodies of the methods that order, rank and count: each is the function of the same name.
#include <ebb/ops/sort.h>
#include <ebb/ops/statistics.h>

#include "ops/common/self.h"

namespace ebb::ops {

std::tuple<Variable, Variable> IndexMethods::sort(std::int64_t dim, bool descending) const {
  return ebb::sort(self(this), dim, descending);
}
std::tuple<Variable, Variable> IndexMethods::sort(optional<bool> stable, std::int64_t dim,
                                                  bool descending) const {
  return ebb::sort(self(this), stable, dim, descending);
}
Variable IndexMethods::argsort(std::int64_t dim, bool descending) const {
  return ebb::argsort(self(this), dim, descending);
}
Variable IndexMethods::argsort(bool stable, std::int64_t dim, bool descending) const {
  return ebb::argsort(self(this), stable, dim, descending);
}
Variable IndexMethods::msort() const { return ebb::msort(self(this)); }
std::tuple<Variable, Variable> IndexMethods::topk(std::int64_t k, std::int64_t dim, bool largest,
                                                  bool sorted) const {
  return ebb::topk(self(this), k, dim, largest, sorted);
}
std::tuple<Variable, Variable> IndexMethods::kthvalue(std::int64_t k, std::int64_t dim, bool keepdim) const {
  return ebb::kthvalue(self(this), k, dim, keepdim);
}
Variable IndexMethods::median() const { return ebb::median(self(this)); }
std::tuple<Variable, Variable> IndexMethods::median(std::int64_t dim, bool keepdim) const {
  return ebb::median(self(this), dim, keepdim);
}
Variable IndexMethods::nanmedian() const { return ebb::nanmedian(self(this)); }
std::tuple<Variable, Variable> IndexMethods::nanmedian(std::int64_t dim, bool keepdim) const {
  return ebb::nanmedian(self(this), dim, keepdim);
}
std::tuple<Variable, Variable> IndexMethods::mode(std::int64_t dim, bool keepdim) const {
  return ebb::mode(self(this), dim, keepdim);
}
Variable IndexMethods::quantile(const Variable& q, optional<std::int64_t> dim, bool keepdim,
                                std::string_view interpolation) const {
  return ebb::quantile(self(this), q, dim, keepdim, interpolation);
}
Variable IndexMethods::quantile(double q, optional<std::int64_t> dim, bool keepdim,
                                std::string_view interpolation) const {
  return ebb::quantile(self(this), q, dim, keepdim, interpolation);
}
Variable IndexMethods::nanquantile(const Variable& q, optional<std::int64_t> dim, bool keepdim,
                                   std::string_view interpolation) const {
  return ebb::nanquantile(self(this), q, dim, keepdim, interpolation);
}
Variable IndexMethods::nanquantile(double q, optional<std::int64_t> dim, bool keepdim,
                                   std::string_view interpolation) const {
  return ebb::nanquantile(self(this), q, dim, keepdim, interpolation);
}
std::tuple<Variable, Variable> IndexMethods::histogram(const Variable& bins) const {
  return ebb::histogram(self(this), bins);
}
std::tuple<Variable, Variable> IndexMethods::histogram(const Variable& bins, const optional<Variable>& weight,
                                                       bool density) const {
  return ebb::histogram(self(this), bins, weight, density);
}
std::tuple<Variable, Variable> IndexMethods::histogram(std::int64_t bins,
                                                       optional<ArrayRef<double>> range) const {
  return ebb::histogram(self(this), bins, range);
}
std::tuple<Variable, Variable> IndexMethods::histogram(std::int64_t bins, optional<ArrayRef<double>> range,
                                                       const optional<Variable>& weight, bool density) const {
  return ebb::histogram(self(this), bins, range, weight, density);
}
Variable IndexMethods::bincount() const { return ebb::bincount(self(this)); }
Variable IndexMethods::bincount(const optional<Variable>& weights, std::int64_t minlength) const {
  return ebb::bincount(self(this), weights, minlength);
}
Variable IndexMethods::histc(std::int64_t bins, const Scalar& min, const Scalar& max) const {
  return ebb::histc(self(this), bins, min, max);
}

}  // namespace ebb::ops
