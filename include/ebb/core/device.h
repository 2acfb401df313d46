// Device and DeviceType: the device that a tensor is on.
#pragma once

#include <ebb/core/error.h>

#include <cstdint>
#include <iosfwd>

namespace ebb {

/// HIP, XPU and MPS only exist as names, for programs that test whether a tensor is on such a device. No
/// tensor is ever on one, because the constructor of Device throws for these types.
enum class DeviceType : std::int8_t { CPU = 0, CUDA = 1, HIP = 6, XPU = 12, MPS = 13 };
constexpr DeviceType kCPU = DeviceType::CPU;
constexpr DeviceType kCUDA = DeviceType::CUDA;
constexpr DeviceType kHIP = DeviceType::HIP;
constexpr DeviceType kXPU = DeviceType::XPU;
constexpr DeviceType kMPS = DeviceType::MPS;
constexpr int kDeviceTypes = 2;
using DeviceIndex = std::int8_t;

/// A device: its type and, for CUDA, an index. Index -1 means the current device of that type. `Device::CPU`
/// and `Device::CUDA` are tags that convert to a Device; `Device("cuda:1")` parses a string.
class EBB_API Device {
 public:
  using Type = DeviceType;
  static constexpr DeviceType CPU = DeviceType::CPU;
  static constexpr DeviceType CUDA = DeviceType::CUDA;

  /// Throws ebb::Error for an index outside of [-1, 127], and for types other than CPU and CUDA.
  constexpr Device(DeviceType type = DeviceType::CPU, std::int64_t index = -1)
      : type_(type), index_(static_cast<std::int8_t>(index)) {
    if (type > DeviceType::CUDA) fail_type(type);
    if (index < -1 || index > 127) fail_index(index);
  }
  /// Parses "cpu", "cuda" or "cuda:N"; throws ebb::Error for anything else.
  explicit Device(std::string_view text);
  Device(const char* text) : Device(std::string_view(text)) {}
  Device(const std::string& text) : Device(std::string_view(text)) {}

  constexpr DeviceType type() const { return type_; }
  constexpr DeviceIndex index() const { return index_; }
  constexpr bool has_index() const { return index_ >= 0; }
  constexpr void set_index(std::int64_t index) { *this = Device(type_, index); }
  constexpr bool is_cpu() const { return type_ == DeviceType::CPU; }
  constexpr bool is_cuda() const { return type_ == DeviceType::CUDA; }
  constexpr bool is_mps() const { return false; }
  /// Returns "cpu", "cuda" or "cuda:1".
  std::string str() const;

  friend constexpr bool operator==(Device a, Device b) { return a.type_ == b.type_ && a.index_ == b.index_; }

 private:
  [[noreturn]] static void fail_index(std::int64_t index);
  [[noreturn]] static void fail_type(DeviceType type);

  DeviceType type_;
  std::int8_t index_;
};

inline void append_text(std::string& out, Device device) { out += device.str(); }
EBB_API std::ostream& operator<<(std::ostream& out, Device device);
EBB_API std::ostream& operator<<(std::ostream& out, DeviceType type);

}  // namespace ebb

template <>
struct std::hash<ebb::Device> {
  std::size_t operator()(ebb::Device device) const noexcept {
    return static_cast<std::size_t>(device.type()) << 8 | static_cast<std::uint8_t>(device.index());
  }
};
