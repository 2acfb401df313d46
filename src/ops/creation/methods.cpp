// Definitions of the methods that create, copy and fill tensors. Each calls the function of the same name.
#include <ebb/ops/aten_factories.h>
#include <ebb/ops/creation.h>

#include "ops/common/record.h"

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

Variable ShapeMethods::clone(optional<MemoryFormat> memory_format) const {
  return ebb::clone(self(this), memory_format);
}
Variable ShapeMethods::contiguous(MemoryFormat memory_format) const {
  return ebb::contiguous(self(this), memory_format);
}
Variable ShapeMethods::to(const TensorOptions& options, bool non_blocking, bool copy,
                          optional<MemoryFormat> memory_format) const {
  return ebb::to(self(this), options, non_blocking, copy, memory_format);
}
Variable ShapeMethods::to(DType dtype, bool non_blocking, bool copy,
                          optional<MemoryFormat> memory_format) const {
  return ebb::to(self(this), dtype, non_blocking, copy, memory_format);
}
Variable ShapeMethods::to(TypeMeta dtype, bool non_blocking, bool copy,
                          optional<MemoryFormat> memory_format) const {
  return ebb::to(self(this), dtype, non_blocking, copy, memory_format);
}
Variable ShapeMethods::to(optional<DType> dtype, optional<Layout> layout, optional<Device> device,
                          optional<bool> pin_memory, bool non_blocking, bool copy,
                          optional<MemoryFormat> memory_format) const {
  const TensorOptions options = TensorOptions().dtype(dtype).layout(layout).device(device);
  const Variable out = ebb::to(self(this), options, non_blocking, copy, memory_format);
  return pin_memory.value_or(false) ? out.pin_memory() : out;
}
Variable ShapeMethods::to(Device device, DType dtype, bool non_blocking, bool copy,
                          optional<MemoryFormat> memory_format) const {
  return ebb::to(self(this), device, dtype, non_blocking, copy, memory_format);
}
Variable ShapeMethods::to(const Variable& other, bool non_blocking, bool copy,
                          optional<MemoryFormat> memory_format) const {
  return ebb::to(self(this), other, non_blocking, copy, memory_format);
}
Variable ShapeMethods::toType(DType dtype) const { return to(dtype); }
Variable ShapeMethods::type_as(const Variable& other) const { return to(other.options()); }
Variable ShapeMethods::cpu() const { return to(TensorOptions(kCPU)); }
Variable ShapeMethods::cuda() const { return to(TensorOptions(kCUDA)); }
Variable& ShapeMethods::copy_(const Variable& src, bool non_blocking) const {
  return ebb::copy_(self(this), src, non_blocking);
}
Variable& ShapeMethods::fill_(const Scalar& value) const { return ebb::fill_(self(this), value); }
Variable& ShapeMethods::fill_(const Variable& value) const { return ebb::fill_(self(this), value); }
Variable& ShapeMethods::zero_() const { return ebb::zero_(self(this)); }

}  // namespace ebb::ops
