// Arrays as libraries want them: begun where allocations do.
#pragma once

#include "ops/common/kernels.h"

#include <cstdint>

namespace ebb::cuda {

/// x, or a copy in the same layout where it does not begin at a multiple of 16 bytes, from which libraries
/// load at once. Undefined arrays stay so.
inline NdArray aligned(const NdArray& x) {
  constexpr std::uintptr_t kVector = 16;
  if (!x.defined() || reinterpret_cast<std::uintptr_t>(x.address()) % kVector == 0) return x;
  NdArray copy = NdArray::empty_strided(x.sizes(), x.strides(), x.dtype(), x.device());
  kernels::copy(x.device(), copy, x);
  return copy;
}

}  // namespace ebb::cuda
