// Helpers that the reductions share: cumulative sums and products, and x / norm. Both are differentiable any
// number of times.
#pragma once

#include <ebb/autograd/variable.h>

#include "ops/common/dims.h"
#include "ops/common/kernels.h"

namespace ebb::ops {

/// Runs the kernel over x in any layout, without a graph.
NdArray run_scan(const NdArray& x, std::int64_t dim, ScanKind kind, bool reverse);

/// Returns cumulative sums, or with `reverse` those from the end, in `dtype` (by default that of x).
Variable cumulative_sum(const Variable& x, std::int64_t dim, bool reverse, DType dtype = DType::Undefined);
/// Returns cumulative products, or those from the end.
Variable cumulative_prod(const Variable& x, std::int64_t dim, bool reverse, DType dtype = DType::Undefined);
/// Does the same in place, as the op named `op`.
Variable& cumulative_sum_(const Variable& self, const char* op, std::int64_t dim);
Variable& cumulative_prod_(const Variable& self, const char* op, std::int64_t dim);
/// Converts cumulative products to exclusive ones: the product of the elements before each element (or after
/// it, if `reverse`), and 1 at the end.
Variable exclusive_prod(const Variable& running, std::int64_t dim, bool reverse);

/// Returns x / norm, where norm is the norm of x over the dimensions of `mask`, which have size 1. Where the
/// norm of x is 0, `norm` may hold any other value. `norm` gets no gradient, because that of x includes its
/// part. The squares in the derivative do not overflow.
Variable unit_vector(const Variable& x, const Variable& norm, DimMask mask);

}  // namespace ebb::ops
