// How a new tensor is to be made: dtype, device, requires_grad.
#pragma once

#include <ebb/core/array_ref.h>
#include <ebb/core/device.h>
#include <ebb/core/dtype.h>

namespace ebb {

/// ebb's tensors are strided; the enum lets libtorch code that names the layout compile.
enum class Layout : std::int8_t { Strided };
constexpr Layout kStrided = Layout::Strided;

/// Order of the elements in memory. ChannelsLast is NCHW with the strides of NHWC.
enum class MemoryFormat : std::int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };

/// `TensorOptions().dtype(kFloat64).requires_grad(true)`; converts from a dtype or a device alone. What is
/// not set takes the default: get_default_dtype(), the CPU, no gradient; or, in `_like` and `new_` functions,
/// the source's value.
class TensorOptions {
 public:
  constexpr TensorOptions() = default;
  constexpr TensorOptions(DType dtype) : dtype_(dtype) {}
  constexpr TensorOptions(Device device) : device_(device), has_device_(true) {}
  constexpr TensorOptions(DeviceType device) : TensorOptions(Device(device)) {}
  /// From the name of a device: `x.to("cuda:1")`.
  template <class T>
  requires std::is_constructible_v<std::string_view, const T&> TensorOptions(const T& device)
      : TensorOptions(Device(std::string_view(device))) {}
  constexpr TensorOptions(Layout) {}
  constexpr TensorOptions(MemoryFormat format) : format_(format), has_format_(true) {}

  [[nodiscard]] constexpr TensorOptions dtype(optional<DType> dtype) const {
    TensorOptions r = *this;
    r.dtype_ = dtype.value_or(DType::Undefined);
    return r;
  }
  template <class T>
  [[nodiscard]] constexpr TensorOptions dtype() const {
    return dtype(dtype_of<T>());
  }
  [[nodiscard]] constexpr TensorOptions device(Device device) const {
    TensorOptions r = *this;
    r.device_ = device;
    r.has_device_ = true;
    return r;
  }
  [[nodiscard]] constexpr TensorOptions device(DeviceType type, std::int64_t index = -1) const {
    return device(Device(type, index));
  }
  [[nodiscard]] TensorOptions device(const char* text) const { return device(Device(text)); }
  [[nodiscard]] constexpr TensorOptions device(optional<Device> d) const { return d ? device(*d) : *this; }
  [[nodiscard]] constexpr TensorOptions device_index(std::int64_t index) const {
    return device(Device(DeviceType::CUDA, index));
  }
  [[nodiscard]] constexpr TensorOptions requires_grad(optional<bool> value) const {
    TensorOptions r = *this;
    r.requires_grad_ = value.value_or(false);
    return r;
  }
  [[nodiscard]] constexpr TensorOptions layout(Layout) const { return *this; }
  [[nodiscard]] constexpr TensorOptions pinned_memory(bool value) const {
    TensorOptions r = *this;
    r.pinned_ = value;
    return r;
  }
  [[nodiscard]] constexpr TensorOptions memory_format(optional<MemoryFormat> format) const {
    TensorOptions r = *this;
    r.has_format_ = format.has_value();
    r.format_ = format.value_or(MemoryFormat::Contiguous);
    return r;
  }

  DType dtype() const { return has_dtype() ? dtype_ : get_default_dtype(); }
  constexpr Device device() const { return device_; }
  constexpr bool requires_grad() const { return requires_grad_; }
  constexpr bool pinned_memory() const { return pinned_; }
  constexpr Layout layout() const { return Layout::Strided; }
  constexpr bool has_dtype() const { return dtype_ != DType::Undefined; }
  constexpr bool has_device() const { return has_device_; }
  constexpr bool has_memory_format() const { return has_format_; }
  constexpr DType dtype_or(DType other) const { return has_dtype() ? dtype_ : other; }
  constexpr Device device_or(Device other) const { return has_device_ ? device_ : other; }
  constexpr optional<DType> dtype_opt() const { return has_dtype() ? optional<DType>(dtype_) : nullopt; }
  constexpr optional<Device> device_opt() const { return has_device_ ? optional<Device>(device_) : nullopt; }
  constexpr optional<MemoryFormat> memory_format_opt() const {
    return has_format_ ? optional<MemoryFormat>(format_) : nullopt;
  }
  /// These options where set, `base`'s elsewhere.
  constexpr TensorOptions or_else(const TensorOptions& base) const {
    TensorOptions r = *this;
    if (!has_dtype()) r.dtype_ = base.dtype_;
    if (!has_device_) r.device_ = base.device_, r.has_device_ = base.has_device_;
    return r;
  }

 private:
  DType dtype_ = DType::Undefined;
  Device device_;
  MemoryFormat format_ = MemoryFormat::Contiguous;
  bool has_device_ = false;
  bool has_format_ = false;
  bool requires_grad_ = false;
  bool pinned_ = false;
};

inline TensorOptions dtype(DType dtype) { return TensorOptions().dtype(dtype); }
template <class T>
TensorOptions dtype() {
  return TensorOptions().dtype(dtype_of<T>());
}
inline TensorOptions device(Device device) { return TensorOptions().device(device); }
inline TensorOptions layout(Layout) { return {}; }
inline TensorOptions requires_grad(bool value = true) { return TensorOptions().requires_grad(value); }

}  // namespace ebb
