// Bodies of the methods that order, rank and count: each is the function of the same name.
#include <ebb/ops/sort.h>
#include <ebb/ops/statistics.h>

#include "ops/common/self.h"

namespace ebb::ops {

std::tuple<Variable, Variable> SortMethods::sort(std::int64_t dim, bool descending) const {
  return ebb::sort(self(this), dim, descending);
}
std::tuple<Variable, Variable> SortMethods::sort(optional<bool> stable, std::int64_t dim,
                                                 bool descending) const {
  return ebb::sort(self(this), stable, dim, descending);
}
Variable SortMethods::argsort(std::int64_t dim, bool descending) const {
  return ebb::argsort(self(this), dim, descending);
}
Variable SortMethods::argsort(bool stable, std::int64_t dim, bool descending) const {
  return ebb::argsort(self(this), stable, dim, descending);
}
Variable SortMethods::msort() const { return ebb::msort(self(this)); }
std::tuple<Variable, Variable> SortMethods::topk(std::int64_t k, std::int64_t dim, bool largest,
                                                 bool sorted) const {
  return ebb::topk(self(this), k, dim, largest, sorted);
}
std::tuple<Variable, Variable> SortMethods::kthvalue(std::int64_t k, std::int64_t dim, bool keepdim) const {
  return ebb::kthvalue(self(this), k, dim, keepdim);
}
Variable SortMethods::median() const { return ebb::median(self(this)); }
std::tuple<Variable, Variable> SortMethods::median(std::int64_t dim, bool keepdim) const {
  return ebb::median(self(this), dim, keepdim);
}
Variable SortMethods::nanmedian() const { return ebb::nanmedian(self(this)); }
std::tuple<Variable, Variable> SortMethods::nanmedian(std::int64_t dim, bool keepdim) const {
  return ebb::nanmedian(self(this), dim, keepdim);
}
std::tuple<Variable, Variable> SortMethods::mode(std::int64_t dim, bool keepdim) const {
  return ebb::mode(self(this), dim, keepdim);
}
Variable SortMethods::quantile(const Variable& q, optional<std::int64_t> dim, bool keepdim,
                               std::string_view interpolation) const {
  return ebb::quantile(self(this), q, dim, keepdim, interpolation);
}
Variable SortMethods::quantile(double q, optional<std::int64_t> dim, bool keepdim,
                               std::string_view interpolation) const {
  return ebb::quantile(self(this), q, dim, keepdim, interpolation);
}
Variable SortMethods::nanquantile(const Variable& q, optional<std::int64_t> dim, bool keepdim,
                                  std::string_view interpolation) const {
  return ebb::nanquantile(self(this), q, dim, keepdim, interpolation);
}
Variable SortMethods::nanquantile(double q, optional<std::int64_t> dim, bool keepdim,
                                  std::string_view interpolation) const {
  return ebb::nanquantile(self(this), q, dim, keepdim, interpolation);
}
std::tuple<Variable, Variable> SortMethods::histogram(const Variable& bins) const {
  return ebb::histogram(self(this), bins);
}
std::tuple<Variable, Variable> SortMethods::histogram(const Variable& bins, const optional<Variable>& weight,
                                                      bool density) const {
  return ebb::histogram(self(this), bins, weight, density);
}
std::tuple<Variable, Variable> SortMethods::histogram(std::int64_t bins,
                                                      optional<ArrayRef<double>> range) const {
  return ebb::histogram(self(this), bins, range);
}
std::tuple<Variable, Variable> SortMethods::histogram(std::int64_t bins, optional<ArrayRef<double>> range,
                                                      const optional<Variable>& weight, bool density) const {
  return ebb::histogram(self(this), bins, range, weight, density);
}
Variable SortMethods::bincount() const { return ebb::bincount(self(this)); }
Variable SortMethods::bincount(const optional<Variable>& weights, std::int64_t minlength) const {
  return ebb::bincount(self(this), weights, minlength);
}
Variable SortMethods::histc(std::int64_t bins, const Scalar& min, const Scalar& max) const {
  return ebb::histc(self(this), bins, min, max);
}

}  // namespace ebb::ops
