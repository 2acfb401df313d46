// The storage types of PyTorch's files.
#include "io/pytorch_format.h"

#include <algorithm>
#include <iterator>

namespace ebb::pytorch {
namespace {

constexpr StorageType kTypes[] = {
    {"FloatStorage", "float32", kFloat, 4},
    {"DoubleStorage", "float64", kDouble, 8},
    {"HalfStorage", "float16", kHalf, 2},
    {"BFloat16Storage", "bfloat16", kBFloat16, 2},
    {"LongStorage", "int64", kLong, 8},
    {"IntStorage", "int32", kInt, 4},
    {"ShortStorage", "int16", kShort, 2},
    {"CharStorage", "int8", kChar, 1},
    {"ByteStorage", "uint8", kByte, 1},
    {"BoolStorage", "bool", kBool, 1},
    {"ComplexFloatStorage", "complex64", DType::Undefined, 8},
    {"ComplexDoubleStorage", "complex128", DType::Undefined, 16},
    {"QUInt8Storage", "quint8", DType::Undefined, 1},
    {"QInt8Storage", "qint8", DType::Undefined, 1},
    {"QInt32Storage", "qint32", DType::Undefined, 4},
    {"", "uint16", DType::Undefined, 2},
    {"", "uint32", DType::Undefined, 4},
    {"", "uint64", DType::Undefined, 8},
    {"", "complex32", DType::Undefined, 4},
    {"", "float8_e4m3fn", DType::Undefined, 1},
    {"", "float8_e5m2", DType::Undefined, 1},
    {"", "float8_e4m3fnuz", DType::Undefined, 1},
    {"", "float8_e5m2fnuz", DType::Undefined, 1},
};

template <class Match>
const StorageType* first(const Match& match) {
  const auto* found = std::find_if(std::begin(kTypes), std::end(kTypes), match);
  return found == std::end(kTypes) ? nullptr : found;
}

}  // namespace

const StorageType* storage_named(std::string_view name) {
  return first([&](const StorageType& type) { return !type.storage.empty() && type.storage == name; });
}
const StorageType* dtype_named(std::string_view name) {
  return first([&](const StorageType& type) { return type.dtype == name; });
}
const StorageType& storage_of(DType dtype) {
  return *first([&](const StorageType& type) { return type.type == dtype; });
}

}  // namespace ebb::pytorch
