// Bodies of the methods that run along a dimension: each is the function of the same name.
#include <ebb/ops/scan.h>

#include "ops/common/self.h"

namespace ebb::ops {

Variable ScanMethods::cumsum(std::int64_t dim, optional<ScalarType> dtype) const {
  return ebb::cumsum(self(this), dim, dtype);
}
Variable& ScanMethods::cumsum_(std::int64_t dim, optional<ScalarType> dtype) const {
  return ebb::cumsum_(self(this), dim, dtype);
}
Variable ScanMethods::cumprod(std::int64_t dim, optional<ScalarType> dtype) const {
  return ebb::cumprod(self(this), dim, dtype);
}
Variable& ScanMethods::cumprod_(std::int64_t dim, optional<ScalarType> dtype) const {
  return ebb::cumprod_(self(this), dim, dtype);
}
Variable ScanMethods::logcumsumexp(std::int64_t dim) const { return ebb::logcumsumexp(self(this), dim); }
std::tuple<Variable, Variable> ScanMethods::cummax(std::int64_t dim) const {
  return ebb::cummax(self(this), dim);
}
std::tuple<Variable, Variable> ScanMethods::cummin(std::int64_t dim) const {
  return ebb::cummin(self(this), dim);
}
Variable ScanMethods::diff(std::int64_t n, std::int64_t dim) const { return ebb::diff(self(this), n, dim); }
Variable ScanMethods::diff(std::int64_t n, std::int64_t dim, const optional<Variable>& prepend) const {
  return ebb::diff(self(this), n, dim, prepend);
}
Variable ScanMethods::diff(std::int64_t n, std::int64_t dim, const optional<Variable>& prepend,
                           const optional<Variable>& append) const {
  return ebb::diff(self(this), n, dim, prepend, append);
}

}  // namespace ebb::ops
