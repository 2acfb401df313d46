// Bodies of the methods that run along a dimension: each is the function of the same name.
#include <ebb/ops/scan.h>

#include "ops/common/self.h"

namespace ebb::ops {

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

}  // namespace ebb::ops
