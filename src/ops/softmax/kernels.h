// Kernel slots of softmax: contiguous arrays of one shape and floating dtype, [outer, n, inner] around `dim`.
#pragma once

#include "kernel/slot.h"

#include <ebb/core/ndarray.h>

namespace ebb {
namespace kernels {
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& x, std::int64_t dim, bool log)> softmax;
extern EBB_API
    KernelSlot<void(NdArray& out, const NdArray& grad, const NdArray& y, std::int64_t dim, bool log)>
        softmax_backward;
}  // namespace kernels

namespace cpu {
void softmax(NdArray& out, const NdArray& x, std::int64_t dim, bool log);
void softmax_backward(NdArray& out, const NdArray& grad, const NdArray& y, std::int64_t dim, bool log);
}  // namespace cpu
}  // namespace ebb
