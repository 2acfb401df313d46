// Bodies of the methods that make tensors of the same kind: each is the function of the same name.
#include <ebb/ops/factories.h>

#include "ops/common/self.h"

namespace ebb::ops {

Variable ShapeMethods::new_empty(IntArrayRef sizes, const TensorOptions& options) const {
  return ebb::empty(sizes, options.or_else(self(this).options()));
}
Variable ShapeMethods::new_empty_strided(IntArrayRef sizes, IntArrayRef strides,
                                         const TensorOptions& options) const {
  return ebb::empty_strided(sizes, strides, options.or_else(self(this).options()));
}
Variable ShapeMethods::new_zeros(IntArrayRef sizes, const TensorOptions& options) const {
  return ebb::zeros(sizes, options.or_else(self(this).options()));
}
Variable ShapeMethods::new_ones(IntArrayRef sizes, const TensorOptions& options) const {
  return ebb::ones(sizes, options.or_else(self(this).options()));
}
Variable ShapeMethods::new_full(IntArrayRef sizes, const Scalar& value, const TensorOptions& options) const {
  return ebb::full(sizes, value, options.or_else(self(this).options()));
}
Variable ShapeMethods::new_empty(IntArrayRef sizes, optional<DType> dtype, optional<Layout> layout,
                                 optional<Device> device, optional<bool> pin_memory) const {
  return new_empty(sizes, ebb::detail::spread(dtype, layout, device, pin_memory));
}
Variable ShapeMethods::new_empty_strided(IntArrayRef sizes, IntArrayRef strides, optional<DType> dtype,
                                         optional<Layout> layout, optional<Device> device,
                                         optional<bool> pin_memory) const {
  return new_empty_strided(sizes, strides, ebb::detail::spread(dtype, layout, device, pin_memory));
}
Variable ShapeMethods::new_zeros(IntArrayRef sizes, optional<DType> dtype, optional<Layout> layout,
                                 optional<Device> device, optional<bool> pin_memory) const {
  return new_zeros(sizes, ebb::detail::spread(dtype, layout, device, pin_memory));
}
Variable ShapeMethods::new_ones(IntArrayRef sizes, optional<DType> dtype, optional<Layout> layout,
                                optional<Device> device, optional<bool> pin_memory) const {
  return new_ones(sizes, ebb::detail::spread(dtype, layout, device, pin_memory));
}
Variable ShapeMethods::new_full(IntArrayRef sizes, const Scalar& value, optional<DType> dtype,
                                optional<Layout> layout, optional<Device> device,
                                optional<bool> pin_memory) const {
  return new_full(sizes, value, ebb::detail::spread(dtype, layout, device, pin_memory));
}

}  // namespace ebb::ops
