// Functions on tensors with ATen's names.
#pragma once

#include <ebb/ebb.h>
#include <ebb/ops/aten_factories.h>
#include <ebb/ops/out.h>

#include <torch/csrc/namespaces.h>

namespace at {

/// Calls view(). libtorch's version is not recorded by autograd.
inline Tensor _unsafe_view(const Tensor& self, IntArrayRef size) { return self.view(size); }

/// Calls as_strided(). libtorch's reshape() calls this function if a view is possible.
inline Tensor _reshape_alias(const Tensor& self, IntArrayRef size, IntArrayRef stride) {
  return self.as_strided(size, stride);
}

// Converts to a dtype by its name.
inline Tensor _cast_Byte(const Tensor& self, bool non_blocking = false) {
  return self.to(ebb::kByte, non_blocking);
}
inline Tensor _cast_Char(const Tensor& self, bool non_blocking = false) {
  return self.to(ebb::kChar, non_blocking);
}
inline Tensor _cast_Short(const Tensor& self, bool non_blocking = false) {
  return self.to(ebb::kShort, non_blocking);
}
inline Tensor _cast_Int(const Tensor& self, bool non_blocking = false) {
  return self.to(ebb::kInt, non_blocking);
}
inline Tensor _cast_Long(const Tensor& self, bool non_blocking = false) {
  return self.to(ebb::kLong, non_blocking);
}
inline Tensor _cast_Half(const Tensor& self, bool non_blocking = false) {
  return self.to(ebb::kHalf, non_blocking);
}
inline Tensor _cast_Float(const Tensor& self, bool non_blocking = false) {
  return self.to(ebb::kFloat, non_blocking);
}
inline Tensor _cast_Double(const Tensor& self, bool non_blocking = false) {
  return self.to(ebb::kDouble, non_blocking);
}

}  // namespace at
