// Alignment of arrays for CUDA libraries.
#pragma once

#include "ops/common/kernels.h"

#include <cstdint>

namespace ebb::cuda {

/// Returns x, or a copy with the same strides if x does not begin at a multiple of 16 bytes. Libraries need
/// this alignment, because they load 16 bytes in one instruction. An undefined array is returned unchanged.
inline NdArray aligned(const NdArray& x) {
  constexpr std::uintptr_t kVector = 16;
  if (!x.defined() || reinterpret_cast<std::uintptr_t>(x.address()) % kVector == 0) return x;
  NdArray copy = NdArray::empty_strided(x.sizes(), x.strides(), x.dtype(), x.device());
  kernels::copy(x.device(), copy, x);
  return copy;
}

}  // namespace ebb::cuda
