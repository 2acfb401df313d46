// Kernel slots that all families use: copy, fill and accumulate for arrays of any strides, and scan.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/scalar.h>

#include "kernel/call/slot.h"

namespace ebb {

enum class ScanKind : std::uint8_t { sum, prod, logsumexp };

namespace cpu {

/// Computes out[i] = x[i], converted to out's dtype. x has out's shape and device (its strides may be 0 or
/// negative) and does not overlap out.
void copy(NdArray& out, const NdArray& x);
/// Sets out[i] = value. The dtype of out can represent the value.
void fill(NdArray& out, const Scalar& value);
/// Computes out[i] += x[i]. Both have the same shape and dtype. out does not overlap itself.
void accumulate(NdArray& out, const NdArray& x);
/// Computes cumulative sums (or products, or log-sum-exps) along `dim`: out[i] = x[0] + ... + x[i], or x[i] +
/// ... + x[n - 1] if `reverse`. Both arrays are contiguous and have the same dtype. The accumulator is double
/// for Float and float for 16-bit types. The kind logsumexp is defined only for floating dtypes.
void scan(NdArray& out, const NdArray& x, std::int64_t dim, ScanKind kind, bool reverse);

}  // namespace cpu

}  // namespace ebb

#define EBB_COMMON_KERNELS(X) \
  X(copy, "copy");            \
  X(fill, "fill");            \
  X(accumulate, "add");       \
  X(scan, "scan");
EBB_DECLARE_KERNELS(EBB_COMMON_KERNELS)
