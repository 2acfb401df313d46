// Arithmetic with defined rounding and overflow: signed integers that wrap, and products that are rounded
// before they are used in a sum. The functions run on host and device.
#pragma once

#include <ebb/core/half.h>

#include <type_traits>

namespace ebb {

/// Returns f(a, b). Integers are computed as unsigned integers, which wrap like torch's, because the overflow
/// of signed integers is undefined in C++.
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

/// Returns a b, rounded. The product is never fused with an addition into a multiply-add, because the result
/// would then depend on the machine. On the host, this requires -ffp-contract=off.
template <class W>
EBB_HD W rounded_product(W a, W b) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<W, double>) return __dmul_rn(a, b);
  if constexpr (std::is_same_v<W, float>) return __fmul_rn(a, b);
#endif
  return a * b;
}

}  // namespace ebb
