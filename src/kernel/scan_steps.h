// The functors that merge the carry of a scan with the next element (Add, Multiply, LogAddExp), and the order
// of the elements, for both devices.
#pragma once

#include <ebb/core/half.h>

#include "kernel/arithmetic.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

namespace ebb::scan_steps {

/// The type of the carry along a line of T.
template <class T>
using Carry = std::conditional_t<std::is_integral_v<T>, std::int64_t, double>;

/// The order of a scan. at(start, i) is the offset of the i-th scanned element in the line that begins at
/// `start`.
struct Order {
  std::int64_t n, stride;
  bool reverse;
  EBB_HD std::int64_t at(std::int64_t start, std::int64_t i) const {
    return start + (reverse ? n - 1 - i : i) * stride;
  }
};

template <class A>
struct Add {
  static constexpr A start = 0;
  EBB_HD A operator()(A carry, A x) const { return wrapping_add(carry, x); }
};

template <class A>
struct Multiply {
  static constexpr A start = 1;
  EBB_HD A operator()(A carry, A x) const { return wrapping_multiply(carry, x); }
};

template <class A>
struct LogAddExp {
  static constexpr A start = -std::numeric_limits<A>::infinity();
  EBB_HD A operator()(A carry, A x) const {
    if (x != x || carry != carry) return x + carry;
    const A top = carry > x ? carry : x, low = carry > x ? x : carry;
    // Two equal infinities are returned unchanged, because their difference would be NaN.
    return low == top && std::isinf(top) ? top : top + std::log1p(std::exp(low - top));
  }
};

}  // namespace ebb::scan_steps
