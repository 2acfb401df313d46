#include <ebb/ops/creation.h>

#include <bit>
#include <cstring>

#include "onnx/proto.h"
#include "onnx/wire.h"

namespace onnx {
namespace {

using ebb::detail::fail;

struct Parts {
  std::vector<std::int64_t> dims;
  std::int64_t data_type = 0;
  std::vector<float> floats;
  std::vector<double> doubles;
  std::vector<std::int64_t> integers;
  std::string_view raw;
  bool has_raw = false;
};

Parts read_parts(std::string_view message) {
  Parts parts;
  for (const Field& field : read_fields(message)) {
    switch (field.number) {
      case 1:
        field.append_to(parts.dims);
        break;
      case 2:
        parts.data_type = field.integer();
        break;
      case 4:
        field.append_to(parts.floats);
        break;
      case 5:  // int32_data, also of the types of 8 and 16 bits
      case 7:
        field.append_to(parts.integers);
        break;  // int64_data
      case 8:
      case 12:
        break;  // name and description
      case 9:
        parts.raw = field.text(), parts.has_raw = true;
        break;
      case 10:
        field.append_to(parts.doubles);
        break;
      default:
        fail("TensorProto: field ", std::uint64_t{field.number}, " is not supported.");
    }
  }
  return parts;
}

// The elements' bytes, little-endian, as raw_data would hold them.
template <class T, class Source>
std::string bytes_of(const std::vector<Source>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  for (std::size_t i = 0; i < values.size(); ++i) {
    const T value = static_cast<T>(values[i]);
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return bytes;
}

std::string bytes_of(const Parts& parts, ebb::DType dtype) {
  if (dtype == ebb::kFloat) return bytes_of<float>(parts.floats);
  if (dtype == ebb::kDouble) return bytes_of<double>(parts.doubles);
  switch (ebb::element_size(dtype)) {
    case 1:
      return bytes_of<std::uint8_t>(parts.integers);
    case 2:
      return bytes_of<std::uint16_t>(parts.integers);  // 16-bit floats are stored by their bits
    case 4:
      return bytes_of<std::uint32_t>(parts.integers);
    default:
      return bytes_of<std::uint64_t>(parts.integers);
  }
}

}  // namespace

ebb::DType dtype_of(std::int64_t data_type) {
  switch (data_type) {
    case 1:
      return ebb::kFloat;
    case 2:
      return ebb::kByte;
    case 3:
      return ebb::kChar;
    case 5:
      return ebb::kShort;
    case 6:
      return ebb::kInt;
    case 7:
      return ebb::kLong;
    case 9:
      return ebb::kBool;
    case 10:
      return ebb::kHalf;
    case 11:
      return ebb::kDouble;
    case 16:
      return ebb::kBFloat16;
    default:
      fail("TensorProto: ebb has no dtype for the data type ", data_type, ".");
  }
}

Tensor parse_tensor(std::string_view message) {
  static_assert(std::endian::native == std::endian::little);
  const Parts parts = read_parts(message);
  const ebb::DType dtype = dtype_of(parts.data_type);
  const std::string listed = parts.has_raw ? "" : bytes_of(parts, dtype);
  const std::string_view bytes = parts.has_raw ? parts.raw : listed;
  // Compared before anything is allocated: a damaged shape may be as large as it likes.
  std::uint64_t expected = static_cast<std::uint64_t>(ebb::element_size(dtype));
  for (const std::int64_t size : parts.dims) {
    if (size < 0 || __builtin_mul_overflow(expected, static_cast<std::uint64_t>(size), &expected))
      fail("TensorProto: the shape ", ebb::IntArrayRef(parts.dims), " is not one.");
  }
  if (expected != bytes.size())
    fail("TensorProto: the shape ", ebb::IntArrayRef(parts.dims), " takes ", expected,
         " bytes, but there are ", std::uint64_t{bytes.size()}, ".");
  if (dtype == ebb::kBool) {
    for (const char c : bytes) EBB_CHECK(c == 0 || c == 1, "TensorProto: a bool other than 0 and 1.");
  }
  const Tensor tensor = ebb::empty(parts.dims, dtype);
  if (!bytes.empty()) std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}

}  // namespace onnx
