// combine(): merges a value into an element of scatter's result by a ScatterOp (assign, add, multiply, amax
// or amin), for host and device.
#pragma once

#include "kernel/arithmetic.h"
#include "ops/index/kernels.h"

#include <type_traits>

namespace ebb::indexing {

template <class T>
EBB_HD T combine(T a, T b, kernels::ScatterOp op) {
  const auto undefined = [](T v) {
    if constexpr (std::is_integral_v<T>)
      return false;
    else
      return static_cast<float>(v) != static_cast<float>(v);
  };
  switch (op) {
    case kernels::ScatterOp::add:
      if constexpr (std::is_same_v<T, bool>)
        return a || b;
      else
        return wrapping_add(a, b);
    case kernels::ScatterOp::multiply:
      if constexpr (std::is_same_v<T, bool>)
        return a && b;
      else
        return wrapping_multiply(a, b);
    case kernels::ScatterOp::amax:
      return undefined(a) ? a : (a < b || undefined(b)) ? b : a;
    case kernels::ScatterOp::amin:
      return undefined(a) ? a : (b < a || undefined(b)) ? b : a;
    default:
      return b;
  }
}

}  // namespace ebb::indexing
