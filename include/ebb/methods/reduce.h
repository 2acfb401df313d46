// Methods of Variable that reduce; documented with the functions of the same names in ebb/ops/reduce.h.
#pragma once

#include <ebb/core/api.h>
#include <ebb/core/array_ref.h>
#include <ebb/core/dtype.h>
#include <ebb/core/scalar.h>
#include <ebb/fwd.h>

#include <cstdint>
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
  Variable any(OptionalIntArrayRef dim, bool keepdim = false) const;
  Variable all() const;
  Variable all(std::int64_t dim, bool keepdim = false) const;
  Variable all(OptionalIntArrayRef dim, bool keepdim = false) const;
  Variable count_nonzero(IntArrayRef dim) const;
  Variable count_nonzero(optional<std::int64_t> dim = nullopt) const;
  Variable count_nonzero(std::int64_t dim) const;
  Variable hash_tensor(IntArrayRef dim = {}, bool keepdim = false, std::int64_t mode = 0) const;
  Variable var(bool unbiased = true) const;
  Variable var(int dim) const;
  Variable var(std::initializer_list<std::int64_t> dim) const;
  Variable var(OptionalIntArrayRef dim, bool unbiased = true, bool keepdim = false) const;
  Variable var(OptionalIntArrayRef dim, const optional<Scalar>& correction, bool keepdim = false) const;
  Variable std(bool unbiased = true) const;
  Variable std(int dim) const;
  Variable std(std::initializer_list<std::int64_t> dim) const;
  Variable std(OptionalIntArrayRef dim, bool unbiased = true, bool keepdim = false) const;
  Variable std(OptionalIntArrayRef dim, const optional<Scalar>& correction, bool keepdim = false) const;
  Variable norm(const Scalar& p = 2) const;
  Variable norm(const optional<Scalar>& p, ScalarType dtype) const;
  Variable norm(const optional<Scalar>& p, IntArrayRef dim, bool keepdim = false) const;
  Variable norm(const optional<Scalar>& p, IntArrayRef dim, bool keepdim, ScalarType dtype) const;
  Variable dist(const Variable& other, const Scalar& p = 2) const;
  Variable cov(std::int64_t correction = 1) const;
  Variable cov(std::int64_t correction, const optional<Variable>& fweights) const;
  Variable cov(std::int64_t correction, const optional<Variable>& fweights,
               const optional<Variable>& aweights) const;
  Variable corrcoef() const;
  Variable renorm(const Scalar& p, std::int64_t dim, const Scalar& maxnorm) const;
  Variable& renorm_(const Scalar& p, std::int64_t dim, const Scalar& maxnorm) const;
  Variable logsumexp(IntArrayRef dim, bool keepdim = false) const;
};

}  // namespace ebb::ops
