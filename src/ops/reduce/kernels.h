// Kernel slots of the reductions. `out` is contiguous, in the shape left when the dimensions in `dims` are gone (sizes
// of 1 in their places or not), and of the dtype each slot names.
#pragma once

#include "kernel/reduce_plan.h"
#include "kernel/slot.h"

namespace ebb {

/// What reductions without a parameter share.
using ReduceKernel = void(NdArray& out, const NdArray& x, DimMask dims);

namespace kernels {
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& x, DimMask dims, double divisor)> sum;  // out: x's, ints: Long
}  // namespace kernels

namespace cpu {
void sum(NdArray& out, const NdArray& x, DimMask dims, double divisor);
}  // namespace cpu

}  // namespace ebb
