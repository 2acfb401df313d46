// Bodies of the methods that make tensors of the same kind: each is the function of the same name.
#include <ebb/ops/creation.h>

#include "ops/common/self.h"

namespace ebb::ops {

Variable CreationMethods::new_empty(IntArrayRef sizes, const TensorOptions& options) const {
  return ebb::empty(sizes, options.or_else(self(this).options()));
}
Variable CreationMethods::new_empty_strided(IntArrayRef sizes, IntArrayRef strides,
                                            const TensorOptions& options) const {
  return ebb::empty_strided(sizes, strides, options.or_else(self(this).options()));
}
Variable CreationMethods::new_zeros(IntArrayRef sizes, const TensorOptions& options) const {
  return ebb::zeros(sizes, options.or_else(self(this).options()));
}
Variable CreationMethods::new_ones(IntArrayRef sizes, const TensorOptions& options) const {
  return ebb::ones(sizes, options.or_else(self(this).options()));
}
Variable CreationMethods::new_full(IntArrayRef sizes, const Scalar& value,
                                   const TensorOptions& options) const {
  return ebb::full(sizes, value, options.or_else(self(this).options()));
}

}  // namespace ebb::ops
