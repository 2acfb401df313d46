// Kernel slots of the scans. Arrays are contiguous and of one shape; `reverse` runs from the end of the line.
#pragma once

#include "kernel/slot.h"

#include <ebb/core/ndarray.h>

namespace ebb {

enum class ScanKind : std::uint8_t { sum, prod, logsumexp };

namespace kernels {
/// out: x's dtype. Floats are carried in double, 16-bit types in float. logsumexp: floating dtypes.
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& x, std::int64_t dim, ScanKind kind, bool reverse)>
    scan;
/// out[i] = x[i] + a[i - 1] * out[i - 1], or from the end out[i] = x[i] + a[i] * out[i + 1]; floating dtypes.
extern EBB_API
    KernelSlot<void(NdArray& out, const NdArray& x, const NdArray& a, std::int64_t dim, bool reverse)>
        linear_recurrence;
/// The extreme so far and where it last stood (Long).
extern EBB_API
    KernelSlot<void(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool largest)>
        running_extreme;
}  // namespace kernels

namespace cpu {
void scan(NdArray& out, const NdArray& x, std::int64_t dim, ScanKind kind, bool reverse);
void linear_recurrence(NdArray& out, const NdArray& x, const NdArray& a, std::int64_t dim, bool reverse);
void running_extreme(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool largest);
}  // namespace cpu
}  // namespace ebb
