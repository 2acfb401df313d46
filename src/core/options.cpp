// Names and text of dtypes, scalars, devices and TensorOptions, and the promotion of dtypes.
#include <ebb/core/device.h>
#include <ebb/core/dtype.h>
#include <ebb/core/options.h>
#include <ebb/core/scalar.h>

#include <atomic>
#include <charconv>
#include <ostream>

namespace ebb {

const char* to_string(DType dtype) {
  constexpr const char* names[] = {"Byte",  "Char",   "Short", "Int",      "Long",     "Half",
                                   "Float", "Double", "Bool",  "BFloat16", "Undefined"};
  return names[static_cast<int>(dtype)];
}

std::ostream& operator<<(std::ostream& out, DType dtype) { return out << to_string(dtype); }

std::string_view TypeMeta::name() const {
  constexpr std::string_view names[] = {"unsigned char",
                                        "signed char",
                                        "short int",
                                        "int",
                                        "long int",
                                        "c10::Half",
                                        "float",
                                        "double",
                                        "bool",
                                        "c10::BFloat16",
                                        "nullptr (uninitialized)"};
  return names[static_cast<int>(dtype_)];
}
std::ostream& operator<<(std::ostream& out, TypeMeta dtype) { return out << dtype.name(); }

namespace detail {
void scalar_overflow(const Scalar& value, DType dtype) {
  fail("value ", value, " cannot be converted to ", dtype, " without overflow.");
}
}  // namespace detail

std::ostream& operator<<(std::ostream& out, Half value) { return out << static_cast<float>(value); }
std::ostream& operator<<(std::ostream& out, BFloat16 value) { return out << static_cast<float>(value); }

std::ostream& operator<<(std::ostream& out, const Scalar& value) {
  std::string s;
  append_text(s, value);
  return out << s;
}

DType promote_types(DType a, DType b) {
  constexpr DType u1 = kByte, i1 = kChar, i2 = kShort, i4 = kInt, i8 = kLong, f2 = kHalf, f4 = kFloat,
                  f8 = kDouble, b1 = kBool, bf = kBFloat16;
  // The lattice of torch.promote_types. Rows and columns are in the order of the enum.
  constexpr DType table[10][10] = {
      {u1, i2, i2, i4, i8, f2, f4, f8, u1, bf}, {i2, i1, i2, i4, i8, f2, f4, f8, i1, bf},
      {i2, i2, i2, i4, i8, f2, f4, f8, i2, bf}, {i4, i4, i4, i4, i8, f2, f4, f8, i4, bf},
      {i8, i8, i8, i8, i8, f2, f4, f8, i8, bf}, {f2, f2, f2, f2, f2, f2, f4, f8, f2, f4},
      {f4, f4, f4, f4, f4, f4, f4, f8, f4, f4}, {f8, f8, f8, f8, f8, f8, f8, f8, f8, f8},
      {u1, i1, i2, i4, i8, f2, f4, f8, b1, bf}, {bf, bf, bf, bf, bf, f4, f4, f8, bf, bf}};
  EBB_CHECK(a != DType::Undefined && b != DType::Undefined,
            "promote_types: a dtype is undefined. Pass the dtypes of defined tensors.");
  return table[static_cast<int>(a)][static_cast<int>(b)];
}

namespace {
std::atomic<DType> default_dtype{kFloat};
}

TypeMeta get_default_dtype() { return TypeMeta(default_dtype.load(std::memory_order_relaxed)); }

void set_default_dtype(DType dtype) {
  EBB_CHECK(is_floating(dtype),
            "set_default_dtype: only floating-point dtypes are supported as default, got ", dtype, ".");
  default_dtype.store(dtype, std::memory_order_relaxed);
}

DType promote_with_scalar(DType tensor, const Scalar& scalar) {
  if (is_floating(tensor)) return tensor;
  if (scalar.is_floating_point()) return get_default_dtype();
  if (tensor == kBool && !scalar.is_boolean()) return kLong;
  return tensor;
}

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
