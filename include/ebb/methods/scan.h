// Methods of Variable that run along a dimension; documented with the functions of the same names in
// ebb/ops/scan.h.
#pragma once

#include <ebb/core/api.h>
#include <ebb/core/array_ref.h>
#include <ebb/core/dtype.h>
#include <ebb/fwd.h>

#include <cstdint>
#include <tuple>

namespace ebb::ops {

struct EBB_API ScanMethods {
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
};

}  // namespace ebb::ops
