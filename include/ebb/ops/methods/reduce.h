// Methods of Variable declared by the reduce, softmax, scan and sort families; documented in their headers.
#pragma once

#include <ebb/core/array_ref.h>
#include <ebb/core/options.h>
#include <ebb/core/scalar.h>
#include <ebb/fwd.h>

#include <string_view>
#include <tuple>

namespace ebb::ops {

struct EBB_API ReduceMethods {
  Variable sum(optional<ScalarType> dtype = nullopt) const;
  Variable sum(OptionalIntArrayRef dim, bool keepdim = false, optional<ScalarType> dtype = nullopt) const;
  Variable mean(optional<ScalarType> dtype = nullopt) const;
  Variable mean(OptionalIntArrayRef dim, bool keepdim = false, optional<ScalarType> dtype = nullopt) const;
  Variable nansum(OptionalIntArrayRef dim = nullopt, bool keepdim = false,
                  optional<ScalarType> dtype = nullopt) const;
  Variable nanmean(OptionalIntArrayRef dim = nullopt, bool keepdim = false,
                   optional<ScalarType> dtype = nullopt) const;
  Variable prod(optional<ScalarType> dtype = nullopt) const;
  Variable prod(std::int64_t dim, bool keepdim = false, optional<ScalarType> dtype = nullopt) const;
  Variable max() const;
  Variable min() const;
  std::tuple<Variable, Variable> max(std::int64_t dim, bool keepdim = false) const;
  std::tuple<Variable, Variable> min(std::int64_t dim, bool keepdim = false) const;
  Variable max(const Variable& other) const;
  Variable min(const Variable& other) const;
  Variable amax(IntArrayRef dim = {}, bool keepdim = false) const;
  Variable amin(IntArrayRef dim = {}, bool keepdim = false) const;
  std::tuple<Variable, Variable> aminmax(optional<std::int64_t> dim = nullopt, bool keepdim = false) const;
  Variable argmax(optional<std::int64_t> dim = nullopt, bool keepdim = false) const;
  Variable argmin(optional<std::int64_t> dim = nullopt, bool keepdim = false) const;
  Variable any() const;
  Variable any(std::int64_t dim, bool keepdim = false) const;
  Variable all() const;
  Variable all(std::int64_t dim, bool keepdim = false) const;
  Variable count_nonzero(IntArrayRef dim) const;
  Variable count_nonzero(optional<std::int64_t> dim = nullopt) const;
  Variable count_nonzero(std::int64_t dim) const;
  Variable var(bool unbiased = true) const;
  Variable var(int dim) const;
  Variable var(OptionalIntArrayRef dim, bool unbiased = true, bool keepdim = false) const;
  Variable var(OptionalIntArrayRef dim, optional<std::int64_t> correction, bool keepdim = false) const;
  Variable std(bool unbiased = true) const;
  Variable std(int dim) const;
  Variable std(OptionalIntArrayRef dim, bool unbiased = true, bool keepdim = false) const;
  Variable std(OptionalIntArrayRef dim, optional<std::int64_t> correction, bool keepdim = false) const;
  Variable norm(const Scalar& p = 2) const;
  Variable norm(const optional<Scalar>& p, ScalarType dtype) const;
  Variable norm(const optional<Scalar>& p, IntArrayRef dim, bool keepdim = false) const;
  Variable norm(const optional<Scalar>& p, IntArrayRef dim, bool keepdim, ScalarType dtype) const;
  Variable dist(const Variable& other, const Scalar& p = 2) const;
  Variable logsumexp(IntArrayRef dim, bool keepdim = false) const;

  Variable softmax(std::int64_t dim, optional<ScalarType> dtype = nullopt) const;
  Variable log_softmax(std::int64_t dim, optional<ScalarType> dtype = nullopt) const;
  Variable cumsum(std::int64_t dim, optional<ScalarType> dtype = nullopt) const;
  Variable& cumsum_(std::int64_t dim, optional<ScalarType> dtype = nullopt) const;
  Variable cumprod(std::int64_t dim, optional<ScalarType> dtype = nullopt) const;
  Variable& cumprod_(std::int64_t dim, optional<ScalarType> dtype = nullopt) const;
  Variable logcumsumexp(std::int64_t dim) const;
  std::tuple<Variable, Variable> cummax(std::int64_t dim) const;
  std::tuple<Variable, Variable> cummin(std::int64_t dim) const;
  // Variable is incomplete here, so what may be absent is an overload rather than a default.
  Variable diff(std::int64_t n = 1, std::int64_t dim = -1) const;
  Variable diff(std::int64_t n, std::int64_t dim, const optional<Variable>& prepend) const;
  Variable diff(std::int64_t n, std::int64_t dim, const optional<Variable>& prepend,
                const optional<Variable>& append) const;

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
  Variable bincount() const;
  Variable bincount(const optional<Variable>& weights, std::int64_t minlength = 0) const;
  Variable histc(std::int64_t bins = 100, const Scalar& min = 0, const Scalar& max = 0) const;
};

}  // namespace ebb::ops
