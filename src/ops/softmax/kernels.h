// Kernel slots of softmax: contiguous arrays of one shape and floating dtype, [outer, n, inner] around `dim`.
#pragma once

#include "kernel/slot.h"

#include <ebb/core/ndarray.h>

namespace ebb {
namespace cpu {
void softmax(NdArray& out, const NdArray& x, std::int64_t dim, bool log);
/// `whole` says that y comes from softmax, so that its lines add up to 1 and their gradients to 0.
void softmax_backward(NdArray& out, const NdArray& grad, const NdArray& y, std::int64_t dim, bool log,
                      bool whole);
}  // namespace cpu

namespace kernels {
extern EBB_API KernelSlot<decltype(cpu::softmax)> softmax;
extern EBB_API KernelSlot<decltype(cpu::softmax_backward)> softmax_backward;
}  // namespace kernels
}  // namespace ebb
