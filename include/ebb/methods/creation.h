// Methods of Variable that make tensors of the same kind; documented with the functions of the same names in
// ebb/ops/creation.h.
#pragma once

#include <ebb/core/api.h>
#include <ebb/core/array_ref.h>
#include <ebb/core/options.h>
#include <ebb/core/scalar.h>
#include <ebb/fwd.h>

namespace ebb::ops {

struct EBB_API CreationMethods {
  Variable new_empty(IntArrayRef sizes, const TensorOptions& options = {}) const;
  Variable new_empty_strided(IntArrayRef sizes, IntArrayRef strides, const TensorOptions& options = {}) const;
  Variable new_zeros(IntArrayRef sizes, const TensorOptions& options = {}) const;
  Variable new_ones(IntArrayRef sizes, const TensorOptions& options = {}) const;
  Variable new_full(IntArrayRef sizes, const Scalar& value, const TensorOptions& options = {}) const;
  // Dtype, layout, device and pinning apart, as in ebb/ops/factories.h.
  Variable new_empty(IntArrayRef sizes, optional<DType> dtype, optional<Layout> layout,
                     optional<Device> device, optional<bool> pin_memory) const;
  Variable new_empty_strided(IntArrayRef sizes, IntArrayRef strides, optional<DType> dtype,
                             optional<Layout> layout, optional<Device> device,
                             optional<bool> pin_memory) const;
  Variable new_zeros(IntArrayRef sizes, optional<DType> dtype, optional<Layout> layout,
                     optional<Device> device, optional<bool> pin_memory) const;
  Variable new_ones(IntArrayRef sizes, optional<DType> dtype, optional<Layout> layout,
                    optional<Device> device, optional<bool> pin_memory) const;
  Variable new_full(IntArrayRef sizes, const Scalar& value, optional<DType> dtype, optional<Layout> layout,
                    optional<Device> device, optional<bool> pin_memory) const;
};

}  // namespace ebb::ops
