// DeprecatedTypeProperties, the result of Tensor::type(), from which older programs read dtype and device.
#pragma once

#include <ebb/autograd/variable.h>

#include <c10/core/Backend.h>
#include <torch/csrc/namespaces.h>

#include <ostream>
#include <string>

namespace ebb {

/// The dtype and device of a tensor (at::DeprecatedTypeProperties). The class converts to a dtype for
/// AT_DISPATCH_..., and to TensorOptions for functions that create tensors.
class DeprecatedTypeProperties {
 public:
  DeprecatedTypeProperties(DType dtype, Device device) : dtype_(dtype), device_(device) {}

  DType scalarType() const { return dtype_; }
  TypeMeta typeMeta() const { return TypeMeta(dtype_); }
  DeviceType device_type() const { return device_.type(); }
  c10::Backend backend() const { return c10::backend_of(device_.type()); }
  Layout layout() const { return Layout::Strided; }
  bool is_cuda() const { return device_.is_cuda(); }
  bool is_sparse() const { return false; }
  TensorOptions options() const { return TensorOptions(dtype_).device(device_); }
  /// "CPUFloatType"
  std::string toString() const {
    return std::string(is_cuda() ? "CUDA" : "CPU") + ebb::toString(dtype_) + "Type";
  }

  operator DType() const { return dtype_; }
  operator TensorOptions() const { return options(); }
  friend bool operator==(const DeprecatedTypeProperties& a, const DeprecatedTypeProperties& b) {
    return a.dtype_ == b.dtype_ && a.device_.type() == b.device_.type();
  }
  friend std::ostream& operator<<(std::ostream& out, const DeprecatedTypeProperties& type) {
    return out << type.toString();
  }

 private:
  DType dtype_;
  Device device_;
};

inline DeprecatedTypeProperties Variable::type() const { return {scalar_type(), device()}; }

}  // namespace ebb
