// TensorOptions: dtype, device and requires_grad of a new tensor.
#pragma once

#include <ebb/core/array_ref.h>
#include <ebb/core/device.h>
#include <ebb/core/dtype.h>

#include <iosfwd>

namespace ebb {

/// All of ebb's tensors are strided. The enum exists so that libtorch code that names a layout compiles.
enum class Layout : std::int8_t { Strided };
constexpr Layout kStrided = Layout::Strided;

/// The order of the elements in memory. ChannelsLast is NCHW with the strides of NHWC.
enum class MemoryFormat : std::int8_t { Contiguous, Preserve, ChannelsLast, ChannelsLast3d };

EBB_API std::ostream& operator<<(std::ostream& out, Layout layout);
EBB_API std::ostream& operator<<(std::ostream& out, MemoryFormat format);

/// Options of a new tensor: `TensorOptions().dtype(kFloat64).requires_grad(true)`. A dtype or a device
/// converts to TensorOptions. An option that is not set has its default: get_default_dtype(), the CPU, no
/// gradient. In `_like` and `new_` functions the default is the source's value.
class TensorOptions {
 public:
  constexpr TensorOptions() = default;
  constexpr TensorOptions(DType dtype) : dtype_(dtype) {}
  constexpr TensorOptions(TypeMeta dtype) : dtype_(dtype) {}
  /// This constructor is a template, so that braces such as {kCUDA, 1} cannot convert to a Device here. They
  /// call the constructor from type and index.
  template <class T>
    requires std::is_same_v<T, Device>
  constexpr TensorOptions(T device) : device_(device), has_device_(true) {}
  constexpr TensorOptions(DeviceType device) : TensorOptions(Device(device)) {}
  /// Enables `x.to({kCUDA, 1})`.
  constexpr TensorOptions(DeviceType type, std::int64_t index) : TensorOptions(Device(type, index)) {}
  /// Converts from the name of a device: `x.to("cuda:1")`.
  template <class T>
    requires std::is_constructible_v<std::string_view, const T&>
  TensorOptions(const T& device) : TensorOptions(Device(std::string_view(device))) {}
  constexpr TensorOptions(Layout) : has_layout_(true) {}
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
    r.has_requires_grad_ = value.has_value();
    return r;
  }
  [[nodiscard]] constexpr TensorOptions layout(optional<Layout> value) const {
    TensorOptions r = *this;
    r.has_layout_ = value.has_value();
    return r;
  }
  [[nodiscard]] constexpr TensorOptions pinned_memory(optional<bool> value) const {
    TensorOptions r = *this;
    r.pinned_ = value.value_or(false);
    r.has_pinned_ = value.has_value();
    return r;
  }
  [[nodiscard]] constexpr TensorOptions memory_format(optional<MemoryFormat> format) const {
    TensorOptions r = *this;
    r.has_format_ = format.has_value();
    r.format_ = format.value_or(MemoryFormat::Contiguous);
    return r;
  }

  TypeMeta dtype() const { return has_dtype() ? TypeMeta(dtype_) : get_default_dtype(); }
  constexpr Device device() const { return device_; }
  constexpr bool requires_grad() const { return requires_grad_; }
  constexpr bool pinned_memory() const { return pinned_; }
  constexpr Layout layout() const { return Layout::Strided; }
  constexpr bool has_dtype() const { return dtype_ != DType::Undefined; }
  constexpr bool has_device() const { return has_device_; }
  constexpr bool has_memory_format() const { return has_format_; }
  constexpr bool has_requires_grad() const { return has_requires_grad_; }
  constexpr bool has_layout() const { return has_layout_; }
  constexpr bool has_pinned_memory() const { return has_pinned_; }
  constexpr DType dtype_or(DType other) const { return has_dtype() ? dtype_ : other; }
  constexpr Device device_or(Device other) const { return has_device_ ? device_ : other; }
  constexpr optional<DType> dtype_opt() const { return has_dtype() ? optional<DType>(dtype_) : nullopt; }
  constexpr optional<Device> device_opt() const { return has_device_ ? optional<Device>(device_) : nullopt; }
  constexpr optional<bool> requires_grad_opt() const {
    return has_requires_grad_ ? optional<bool>(requires_grad_) : nullopt;
  }
  constexpr optional<bool> pinned_memory_opt() const {
    return has_pinned_ ? optional<bool>(pinned_) : nullopt;
  }
  constexpr optional<Layout> layout_opt() const {
    return has_layout_ ? optional<Layout>(Layout::Strided) : nullopt;
  }
  constexpr optional<MemoryFormat> memory_format_opt() const {
    return has_format_ ? optional<MemoryFormat>(format_) : nullopt;
  }
  /// Returns these options. An option that is not set is taken from `base`.
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
  // Bit-fields, so that the object fits into a register.
  bool has_device_ : 1 = false;
  bool has_format_ : 1 = false;
  bool has_layout_ : 1 = false;
  bool has_requires_grad_ : 1 = false;
  bool has_pinned_ : 1 = false;
  bool requires_grad_ : 1 = false;
  bool pinned_ : 1 = false;
};
/// Prints "TensorOptions(dtype=float (default), device=cpu, ...)".
EBB_API std::ostream& operator<<(std::ostream& out, const TensorOptions& options);

inline TensorOptions dtype(DType dtype) { return TensorOptions().dtype(dtype); }
template <class T>
TensorOptions dtype() {
  return TensorOptions().dtype(dtype_of<T>());
}
inline TensorOptions device(Device device) { return TensorOptions().device(device); }
inline TensorOptions device_index(std::int64_t index) { return TensorOptions().device_index(index); }
inline TensorOptions layout(Layout layout) { return TensorOptions().layout(layout); }
inline TensorOptions requires_grad(bool value = true) { return TensorOptions().requires_grad(value); }

}  // namespace ebb
