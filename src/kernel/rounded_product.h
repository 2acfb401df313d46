// A product that is rounded before it is used in a sum, for host and device.
#pragma once

#include "kernel/convert.h"

#include <type_traits>

namespace ebb {

/// Returns a b, rounded, and never fused into a multiply-add, whose result would depend on the machine. On
/// the host, the source must be compiled with -ffp-contract=off.
template <class W>
EBB_HD W rounded_product(W a, W b) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<W, double>) return __dmul_rn(a, b);
  if constexpr (std::is_same_v<W, float>) return __fmul_rn(a, b);
#endif
  return a * b;
}

}  // namespace ebb
