// A product that is rounded before anything is added to it, for host and device.
#pragma once

#include "kernel/convert.h"

#include <type_traits>

namespace ebb {

/// a b, rounded: not the first half of a fused operation, whose digits would depend on the machine. On the
/// host the source has to be compiled with -ffp-contract=off.
template <class W>
EBB_HD W rounded_product(W a, W b) {
#if defined(__CUDA_ARCH__)
  if constexpr (std::is_same_v<W, double>) return __dmul_rn(a, b);
  if constexpr (std::is_same_v<W, float>) return __fmul_rn(a, b);
#endif
  return a * b;
}

}  // namespace ebb
