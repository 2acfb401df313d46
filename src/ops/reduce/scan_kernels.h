// Kernel slots of the scans with a rule of their own. Arrays are contiguous; `reverse` runs from the end of
// the line.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/slot_list.h"

namespace ebb::cpu {

/// out[i] = x[i] + a[i - 1] * out[i - 1], or from the end out[i] = x[i] + a[i] * out[i + 1]; floating dtypes.
void linear_recurrence(NdArray& out, const NdArray& x, const NdArray& a, std::int64_t dim, bool reverse);
/// The extreme so far and where it last stood (Long).
void running_extreme(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool largest);

}  // namespace ebb::cpu

#define EBB_SCAN_KERNELS(X)                  \
  X(linear_recurrence, "linear_recurrence"); \
  X(running_extreme, "cummax");
EBB_DECLARE_KERNELS(EBB_SCAN_KERNELS)
