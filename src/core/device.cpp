// Conversion of devices and TensorOptions to and from text.
#include <ebb/core/device.h>
#include <ebb/core/options.h>

#include <charconv>
#include <ostream>

namespace ebb {

namespace {
std::string_view to_string(DeviceType type) {
  switch (type) {
    case DeviceType::CPU:
      return "cpu";
    case DeviceType::CUDA:
      return "cuda";
    case DeviceType::HIP:
      return "hip";
    case DeviceType::XPU:
      return "xpu";
    case DeviceType::MPS:
      return "mps";
  }
  return "unknown";
}
}  // namespace

Device::Device(std::string_view text) : type_(DeviceType::CPU), index_(-1) {
  const auto bad = [&] {
    detail::fail("Device: cannot read \"", text,
                 "\". Write \"cpu\", \"cuda\" or \"cuda:N\" with N from 0 to 127.");
  };
  std::string_view name = text.substr(0, text.find(':'));
  if (name == "cuda")
    type_ = DeviceType::CUDA;
  else if (name != "cpu")
    bad();
  if (name.size() == text.size()) return;
  const std::string_view number = text.substr(name.size() + 1);
  int index = -1;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), index);
  const bool has_leading_zero = number.size() > 1 && number[0] == '0';
  if (error != std::errc{} || end != number.data() + number.size() || index < 0 || index > 127 ||
      has_leading_zero)
    bad();
  if (type_ == DeviceType::CPU && index != 0) bad();
  index_ = static_cast<std::int8_t>(index);
}

void Device::fail_index(std::int64_t index) {
  detail::fail("Device: there is no device of index ", index,
               ". Give one from 0 to 127, or -1 for the current device.");
}

void Device::fail_type(DeviceType type) {
  detail::fail("Device: ebb has no devices of type ", to_string(type), ". It has kCPU and kCUDA.");
}

std::string Device::str() const {
  std::string s = is_cuda() ? "cuda" : "cpu";
  if (has_index()) s += ':' + std::to_string(int{index_});
  return s;
}

std::ostream& operator<<(std::ostream& out, Device device) { return out << device.str(); }
std::ostream& operator<<(std::ostream& out, DeviceType type) { return out << to_string(type); }

std::ostream& operator<<(std::ostream& out, Layout) { return out << "Strided"; }

std::ostream& operator<<(std::ostream& out, MemoryFormat format) {
  constexpr const char* names[] = {"Contiguous", "Preserve", "ChannelsLast", "ChannelsLast3d"};
  return out << names[static_cast<int>(format)];
}

std::ostream& operator<<(std::ostream& out, const TensorOptions& options) {
  const auto print = [&](const char* label, const auto& value, bool given) {
    out << label << value << (given ? "" : " (default)");
  };
  const auto word = [](bool value) { return value ? "true" : "false"; };
  print("TensorOptions(dtype=", options.dtype(), options.has_dtype());
  print(", device=", options.device(), options.has_device());
  print(", layout=", options.layout(), options.has_layout());
  print(", requires_grad=", word(options.requires_grad()), options.has_requires_grad());
  print(", pinned_memory=", word(options.pinned_memory()), options.has_pinned_memory());
  out << ", memory_format=";
  if (options.has_memory_format())
    out << *options.memory_format_opt();
  else
    out << "(nullopt)";
  return out << ")";
}

}  // namespace ebb
