// Helpers that the reductions share: cumulative sums and products, and x / norm. All are differentiable any
// number of times.
#pragma once

#include <ebb/autograd/variable.h>

#include "ops/common/dims.h"
#include "ops/common/kernels.h"

namespace ebb::ops {

/// Returns the result of the kernel scan() for x in any layout. Records no graph.
NdArray run_scan(const NdArray& x, std::int64_t dim, ScanKind kind, bool reverse);

/// Returns cumulative sums in `dtype`, which is by default the dtype of x. With `reverse`, the sums begin at
/// the end.
Variable cumulative_sum(const Variable& x, std::int64_t dim, bool reverse, DType dtype = DType::Undefined);
/// Returns cumulative products. With `reverse`, the products begin at the end.
Variable cumulative_prod(const Variable& x, std::int64_t dim, bool reverse, DType dtype = DType::Undefined);
/// Write the cumulative sums or products to self, as the op named `op`.
Variable& cumulative_sum_(const Variable& self, const char* op, std::int64_t dim);
Variable& cumulative_prod_(const Variable& self, const char* op, std::int64_t dim);
/// Converts cumulative products to exclusive ones: for each element, the product of all elements before it
/// (after it, if `reverse`). The product of no elements is 1.
Variable exclusive_prod(const Variable& running, std::int64_t dim, bool reverse);

/// Returns x / norm, where norm is the norm of x over the dimensions of `mask`, which have size 1. Where the
/// norm of x is 0, `norm` may contain any nonzero value. `norm` gets no gradient, because the gradient of x
/// already includes the dependence of norm on x. The squares in the derivative do not overflow.
Variable unit_vector(const Variable& x, const Variable& norm, DimMask mask);

}  // namespace ebb::ops
