// Conversion of one element to another type, with torch's rules.
#pragma once

#include <ebb/core/half.h>
#include <ebb/core/scalar.h>

#include <cstdint>
#include <limits>
#include <type_traits>

namespace ebb {

template <class T>
constexpr bool is_half_v = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// Truncates to a 32- or 64-bit integer. NaN and values out of range give the smallest integer, as torch does
/// on x86. C++ leaves these cases undefined.
template <class To, class From>
EBB_HD inline To truncate(From x) {
  constexpr To smallest = std::numeric_limits<To>::min();
  constexpr From low = static_cast<From>(smallest);
  return x >= low && x < -low ? static_cast<To>(x) : smallest;
}

/// The type in which ops on T compute: float for the 16-bit types, T for others.
template <class T>
using Compute = std::conditional_t<is_half_v<T>, float, T>;

/// Converts an element. A floating value is truncated to an integer. A nonzero value (including NaN) becomes
/// true.
template <class To, class From>
EBB_HD inline To convert(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (is_half_v<From>) {
    return convert<To>(static_cast<float>(x));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (is_half_v<To>) {
    return To(static_cast<float>(x));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> && sizeof(To) < 4) {
    // Converts through a wider integer type, so that values out of range wrap. A direct conversion of such
    // values is undefined. As in torch, the wider type has 64 bits for unsigned types.
    using Wide = std::conditional_t<std::is_unsigned_v<To>, std::int64_t, std::int32_t>;
    return static_cast<To>(truncate<Wide>(x));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return truncate<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

/// Converts a Scalar to an element of type T.
template <class T>
T element(const Scalar& value) {
  return value.is_floating_point() ? convert<T>(value.to_double()) : convert<T>(value.to_long());
}

}  // namespace ebb
