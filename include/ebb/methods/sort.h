// Methods of Variable that order, rank and count; documented with the functions of the same names in
// ebb/ops/sort.h.
#pragma once

#include <ebb/core/api.h>
#include <ebb/core/array_ref.h>
#include <ebb/core/scalar.h>
#include <ebb/fwd.h>

#include <cstdint>
#include <string_view>
#include <tuple>

namespace ebb::ops {

struct EBB_API SortMethods {
  std::tuple<Variable, Variable> sort(std::int64_t dim = -1, bool descending = false) const;
  std::tuple<Variable, Variable> sort(optional<bool> stable, std::int64_t dim = -1,
                                      bool descending = false) const;
  Variable argsort(std::int64_t dim = -1, bool descending = false) const;
  Variable argsort(bool stable, std::int64_t dim = -1, bool descending = false) const;
  Variable msort() const;
  std::tuple<Variable, Variable> topk(std::int64_t k, std::int64_t dim = -1, bool largest = true,
                                      bool sorted = true) const;
  std::tuple<Variable, Variable> kthvalue(std::int64_t k, std::int64_t dim = -1, bool keepdim = false) const;
  Variable median() const;
  std::tuple<Variable, Variable> median(std::int64_t dim, bool keepdim = false) const;
  Variable nanmedian() const;
  std::tuple<Variable, Variable> nanmedian(std::int64_t dim, bool keepdim = false) const;
  std::tuple<Variable, Variable> mode(std::int64_t dim = -1, bool keepdim = false) const;
  Variable quantile(const Variable& q, optional<std::int64_t> dim = nullopt, bool keepdim = false,
                    std::string_view interpolation = "linear") const;
  Variable quantile(double q, optional<std::int64_t> dim = nullopt, bool keepdim = false,
                    std::string_view interpolation = "linear") const;
  Variable nanquantile(const Variable& q, optional<std::int64_t> dim = nullopt, bool keepdim = false,
                       std::string_view interpolation = "linear") const;
  Variable nanquantile(double q, optional<std::int64_t> dim = nullopt, bool keepdim = false,
                       std::string_view interpolation = "linear") const;
  std::tuple<Variable, Variable> histogram(const Variable& bins) const;
  std::tuple<Variable, Variable> histogram(const Variable& bins, const optional<Variable>& weight,
                                           bool density = false) const;
  std::tuple<Variable, Variable> histogram(std::int64_t bins = 100,
                                           optional<ArrayRef<double>> range = nullopt) const;
  std::tuple<Variable, Variable> histogram(std::int64_t bins, optional<ArrayRef<double>> range,
                                           const optional<Variable>& weight, bool density = false) const;
  Variable bincount() const;
  Variable bincount(const optional<Variable>& weights, std::int64_t minlength = 0) const;
  Variable histc(std::int64_t bins = 100, const Scalar& min = 0, const Scalar& max = 0) const;
};

}  // namespace ebb::ops
