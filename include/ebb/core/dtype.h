// Element types and torch's promotion rules.
#pragma once

#include <ebb/core/error.h>
#include <ebb/core/half.h>

#include <cstdint>
#include <iosfwd>
#include <type_traits>

namespace ebb {

/// The element type of a tensor, under torch's names and in torch's order.
enum class ScalarType : std::int8_t {
  Byte,
  Char,
  Short,
  Int,
  Long,
  Half,
  Float,
  Double,
  Bool,
  BFloat16,
  Undefined
};
using DType = ScalarType;
using Dtype = ScalarType;

constexpr DType kByte = DType::Byte, kUInt8 = DType::Byte, kU8 = DType::Byte;
constexpr DType kChar = DType::Char, kInt8 = DType::Char, kI8 = DType::Char;
constexpr DType kShort = DType::Short, kInt16 = DType::Short, kI16 = DType::Short;
constexpr DType kInt = DType::Int, kInt32 = DType::Int, kI32 = DType::Int;
constexpr DType kLong = DType::Long, kInt64 = DType::Long, kI64 = DType::Long;
constexpr DType kHalf = DType::Half, kFloat16 = DType::Half, kF16 = DType::Half;
constexpr DType kFloat = DType::Float, kFloat32 = DType::Float, kF32 = DType::Float;
constexpr DType kDouble = DType::Double, kFloat64 = DType::Double, kF64 = DType::Double;
constexpr DType kBool = DType::Bool;
constexpr DType kBFloat16 = DType::BFloat16;

/// Bytes of one element.
constexpr std::int64_t element_size(DType dtype) {
  constexpr std::int64_t sizes[] = {1, 1, 2, 4, 8, 2, 4, 8, 1, 2, 0};
  return sizes[static_cast<int>(dtype)];
}
constexpr std::int64_t elementSize(DType dtype) { return element_size(dtype); }

constexpr bool is_floating(DType dtype) {
  return dtype == kFloat || dtype == kDouble || dtype == kHalf || dtype == kBFloat16;
}
constexpr bool isFloatingType(DType dtype) { return is_floating(dtype); }
constexpr bool is_integral(DType dtype, bool include_bool = false) {
  return dtype <= DType::Long || (include_bool && dtype == kBool);
}
constexpr bool isIntegralType(DType dtype, bool include_bool) { return is_integral(dtype, include_bool); }

/// torch's name of the type: "Float", "Long", ...
EBB_API const char* to_string(DType dtype);
inline const char* toString(DType dtype) { return to_string(dtype); }
EBB_API std::ostream& operator<<(std::ostream& out, DType dtype);
inline void append_text(std::string& out, DType dtype) { out += to_string(dtype); }

/// The type two operands of equal rank compute in (torch.promote_types).
EBB_API DType promote_types(DType a, DType b);
inline DType promoteTypes(DType a, DType b) { return promote_types(a, b); }

/// The type of tensors created without an explicit dtype; kFloat unless set_default_dtype changed it.
EBB_API DType get_default_dtype();
EBB_API void set_default_dtype(DType dtype);

// libtorch keeps another type for these two; here they are DTypes too.
constexpr DType scalarTypeToTypeMeta(DType dtype) { return dtype; }
constexpr DType typeMetaToScalarType(DType dtype) { return dtype; }

/// The DType of a C++ element type.
template <class T>
constexpr DType dtype_of() {
  using U = std::remove_cv_t<T>;
  if constexpr (std::is_same_v<U, bool>)
    return kBool;
  else if constexpr (std::is_same_v<U, ebb::Half>)
    return kHalf;
  else if constexpr (std::is_same_v<U, ebb::BFloat16>)
    return kBFloat16;
  else if constexpr (std::is_same_v<U, float>)
    return kFloat;
  else if constexpr (std::is_same_v<U, double>)
    return kDouble;
  else if constexpr (std::is_integral_v<U> && sizeof(U) == 1)
    return std::is_signed_v<U> ? kChar : kByte;
  else if constexpr (std::is_integral_v<U> && sizeof(U) == 2)
    return kShort;
  else if constexpr (std::is_integral_v<U> && sizeof(U) == 4)
    return kInt;
  else if constexpr (std::is_integral_v<U> && sizeof(U) == 8)
    return kLong;
  else
    return DType::Undefined;
}

}  // namespace ebb
