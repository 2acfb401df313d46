// ScalarType (DType): element types and torch's promotion rules.
#pragma once

#include <ebb/core/error.h>
#include <ebb/core/half.h>

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <string_view>
#include <type_traits>

namespace ebb {

/// The element type of a tensor, with torch's names in torch's order.
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

/// Returns the size of one element in bytes.
constexpr std::int64_t element_size(DType dtype) {
  constexpr std::uint64_t sizes = 0x021'8428'4211;  // a digit for each dtype, Byte last: no array in memory
  return static_cast<std::int64_t>(sizes >> (4 * static_cast<int>(dtype)) & 15);
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

/// Returns torch's name of the type: "Float", "Long", ...
EBB_API const char* to_string(DType dtype);
inline const char* toString(DType dtype) { return to_string(dtype); }
EBB_API std::ostream& operator<<(std::ostream& out, DType dtype);
inline void append_text(std::string& out, DType dtype) { out += to_string(dtype); }

/// Returns the dtype in which two operands of equal rank compute (torch.promote_types).
EBB_API DType promote_types(DType a, DType b);
inline DType promoteTypes(DType a, DType b) { return promote_types(a, b); }

/// Returns the DType of a C++ element type.
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

/// The type of `x.dtype()`. It converts implicitly to DType (torch: caffe2::TypeMeta).
class TypeMeta {
 public:
  constexpr TypeMeta() = default;
  constexpr explicit TypeMeta(DType dtype) : dtype_(dtype) {}
  static constexpr TypeMeta fromScalarType(DType dtype) { return TypeMeta(dtype); }
  template <class T>
  static constexpr TypeMeta Make() {
    return TypeMeta(dtype_of<T>());
  }
  constexpr operator DType() const { return dtype_; }
  constexpr DType toScalarType() const { return dtype_; }
  constexpr bool isScalarType() const { return dtype_ != DType::Undefined; }
  constexpr bool isScalarType(DType dtype) const { return dtype_ == dtype; }
  template <class T>
  constexpr bool Match() const {
    return dtype_ == dtype_of<T>();
  }
  /// Returns the size of one element in bytes.
  constexpr std::size_t itemsize() const { return static_cast<std::size_t>(element_size(dtype_)); }
  /// Returns the C++ type: "float", "long int", "c10::Half". Streams print this name too.
  EBB_API std::string_view name() const;

  friend constexpr bool operator==(TypeMeta a, TypeMeta b) { return a.dtype_ == b.dtype_; }

 private:
  DType dtype_ = DType::Undefined;
};
inline void append_text(std::string& out, TypeMeta dtype) { append_text(out, DType(dtype)); }
EBB_API std::ostream& operator<<(std::ostream& out, TypeMeta dtype);

/// Returns the dtype of tensors created without an explicit dtype: kFloat, or the value of set_default_dtype.
EBB_API TypeMeta get_default_dtype();
EBB_API void set_default_dtype(DType dtype);

constexpr TypeMeta scalarTypeToTypeMeta(DType dtype) { return TypeMeta(dtype); }
constexpr DType typeMetaToScalarType(TypeMeta dtype) { return dtype; }

}  // namespace ebb
