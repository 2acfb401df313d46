// The kernel slot of cumulative sums, products and log-sums-of-exps, which other families use as well.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/slot_list.h"

namespace ebb {

enum class ScanKind : std::uint8_t { sum, prod, logsumexp };

namespace cpu {
/// Computes cumulative sums (products, log-sum-exps) along `dim`: out[i] = x[0] + ... + x[i], from the end if
/// `reverse`. Both arrays are contiguous, in x's dtype. The accumulator of Float is double, and that of
/// 16-bit types is float. logsumexp takes floating dtypes.
void scan(NdArray& out, const NdArray& x, std::int64_t dim, ScanKind kind, bool reverse);
}  // namespace cpu

}  // namespace ebb

#define EBB_RUNNING_SCAN_KERNELS(X) X(scan, "scan");
EBB_DECLARE_KERNELS(EBB_RUNNING_SCAN_KERNELS)
