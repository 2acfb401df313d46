// ScalarType and the corresponding C++ types.
#pragma once

#include <ebb/core/dtype.h>

#include <torch/csrc/namespaces.h>

#include <cstddef>
#include <type_traits>

namespace c10 {

/// Maps a C++ type to a dtype: CppTypeToScalarType<float>::value is kFloat.
template <class T>
struct CppTypeToScalarType : std::integral_constant<ScalarType, ebb::dtype_of<T>()> {};

namespace impl {

template <ScalarType N>
struct ScalarTypeToCPPType;
template <>
struct ScalarTypeToCPPType<ScalarType::Byte> : std::type_identity<std::uint8_t> {};
template <>
struct ScalarTypeToCPPType<ScalarType::Char> : std::type_identity<std::int8_t> {};
template <>
struct ScalarTypeToCPPType<ScalarType::Short> : std::type_identity<std::int16_t> {};
template <>
struct ScalarTypeToCPPType<ScalarType::Int> : std::type_identity<std::int32_t> {};
template <>
struct ScalarTypeToCPPType<ScalarType::Long> : std::type_identity<std::int64_t> {};
template <>
struct ScalarTypeToCPPType<ScalarType::Half> : std::type_identity<Half> {};
template <>
struct ScalarTypeToCPPType<ScalarType::Float> : std::type_identity<float> {};
template <>
struct ScalarTypeToCPPType<ScalarType::Double> : std::type_identity<double> {};
template <>
struct ScalarTypeToCPPType<ScalarType::Bool> : std::type_identity<bool> {};
template <>
struct ScalarTypeToCPPType<ScalarType::BFloat16> : std::type_identity<BFloat16> {};

/// Maps a dtype to a C++ type: float for kFloat.
template <ScalarType N>
using ScalarTypeToCPPTypeT = typename ScalarTypeToCPPType<N>::type;

}  // namespace impl
}  // namespace c10
