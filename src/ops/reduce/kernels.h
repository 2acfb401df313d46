// Kernel slots of the reductions. `out` is contiguous, in the shape left when the dimensions in `dims` are
// gone (or 1).
#pragma once

#include "kernel/reduce_plan.h"
#include "kernel/slot.h"

namespace ebb {

using ReduceKernel = void(NdArray& out, const NdArray& x, DimMask dims);

namespace kernels {
/// sum / divisor, in x's dtype; integers and bool in Long, undivided.
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& x, DimMask dims, double divisor)> sum;
/// The same without the NaNs; floating dtypes.
extern EBB_API KernelSlot<ReduceKernel> nansum;
/// Products; Long for integers.
extern EBB_API KernelSlot<ReduceKernel> prod;
/// In x's dtype; nothing may be empty.
extern EBB_API KernelSlot<ReduceKernel> amax;
extern EBB_API KernelSlot<ReduceKernel> amin;
/// Bool, or Byte when x is Byte.
extern EBB_API KernelSlot<ReduceKernel> any;
extern EBB_API KernelSlot<ReduceKernel> all;
/// Long.
extern EBB_API KernelSlot<ReduceKernel> count_nonzero;
/// The p-norm in float or double; on CUDA x may be of a 16-bit float and out a float.
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& x, DimMask dims, double p)> norm;
/// mean and the sum of (x - mean)^2 over `dims`, divided by `divisor`, or its square root if asked; dtypes as
/// for norm.
extern EBB_API KernelSlot<void(NdArray& out, NdArray& mean, const NdArray& x, DimMask dims, double divisor,
                               bool root)>
    variance;
/// The largest or smallest element along one dimension and where it first stands (Long); NaN counts as both.
extern EBB_API
    KernelSlot<void(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool largest)>
        extreme_index;
}  // namespace kernels

namespace cpu {
void sum(NdArray& out, const NdArray& x, DimMask dims, double divisor);
void nansum(NdArray& out, const NdArray& x, DimMask dims);
void prod(NdArray& out, const NdArray& x, DimMask dims);
void amax(NdArray& out, const NdArray& x, DimMask dims);
void amin(NdArray& out, const NdArray& x, DimMask dims);
void any(NdArray& out, const NdArray& x, DimMask dims);
void all(NdArray& out, const NdArray& x, DimMask dims);
void count_nonzero(NdArray& out, const NdArray& x, DimMask dims);
void norm(NdArray& out, const NdArray& x, DimMask dims, double p);
void variance(NdArray& out, NdArray& mean, const NdArray& x, DimMask dims, double divisor, bool root);
void extreme_index(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool largest);
}  // namespace cpu

}  // namespace ebb
