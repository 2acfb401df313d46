// The kernel slot of sums, products and log-sums-of-exps so far, which other kernels count with.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/slot_list.h"

namespace ebb {

enum class ScanKind : std::uint8_t { sum, prod, logsumexp };

namespace cpu {
/// out[i] = x[0] + ... + x[i] along `dim` (or the product, or log sum exp), from the end when `reverse`. Both
/// contiguous, in x's dtype. Floats are carried in double, 16-bit types in float. logsumexp: floating dtypes.
void scan(NdArray& out, const NdArray& x, std::int64_t dim, ScanKind kind, bool reverse);
}  // namespace cpu

}  // namespace ebb

#define EBB_RUNNING_SCAN_KERNELS(X) X(scan, "scan");
EBB_DECLARE_KERNELS(EBB_RUNNING_SCAN_KERNELS)
