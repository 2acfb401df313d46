// Signed integer arithmetic that wraps, as in torch. C++ leaves overflow undefined, so it uses unsigned
// integers.
#pragma once

#include <ebb/core/half.h>

#include <type_traits>

namespace ebb {

/// Returns f(a, b) modulo the range of T for an integer T, and f(a, b) itself for other types.
template <class T, class F>
EBB_HD T wrapping(T a, T b, F f) {
  if constexpr (std::is_same_v<T, bool> || !std::is_integral_v<T>) {
    return static_cast<T>(f(a, b));
  } else {
    using U = std::conditional_t<(sizeof(T) < 4), unsigned, std::make_unsigned_t<T>>;
    return static_cast<T>(f(static_cast<U>(a), static_cast<U>(b)));
  }
}

template <class T>
EBB_HD T wrapping_add(T a, T b) {
  return wrapping(a, b, [](auto x, auto y) { return x + y; });
}

template <class T>
EBB_HD T wrapping_multiply(T a, T b) {
  return wrapping(a, b, [](auto x, auto y) { return x * y; });
}

}  // namespace ebb
