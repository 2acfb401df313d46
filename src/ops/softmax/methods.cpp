// Bodies of the methods of the softmax family: each is the function of the same name.
#include <ebb/ops/softmax.h>

#include "ops/common/self.h"

namespace ebb::ops {

Variable ReduceMethods::softmax(std::int64_t dim, optional<ScalarType> dtype) const {
  return ebb::softmax(self(this), dim, dtype);
}
Variable ReduceMethods::log_softmax(std::int64_t dim, optional<ScalarType> dtype) const {
  return ebb::log_softmax(self(this), dim, dtype);
}

}  // namespace ebb::ops
