// Kernel slots of scans with a rule of their own. Arrays are contiguous. With `reverse` a scan begins at the
// end of the line.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/slot_list.h"

namespace ebb::cpu {

/// Computes out[i] = x[i] + a[i - 1] * out[i - 1], or from the end out[i] = x[i] + a[i] * out[i + 1], for
/// floating-point dtypes.
void linear_recurrence(NdArray& out, const NdArray& x, const NdArray& a, std::int64_t dim, bool reverse);
/// Computes the cumulative maximum or minimum and its last index so far (Long).
void running_extreme(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool largest);

}  // namespace ebb::cpu

#define EBB_SCAN_KERNELS(X)                  \
  X(linear_recurrence, "linear_recurrence"); \
  X(running_extreme, "cummax");
EBB_DECLARE_KERNELS(EBB_SCAN_KERNELS)
