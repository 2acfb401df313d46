// Sums and products so far, differentiable any number of times: what cumsum, cumprod and the gradient of prod
// are made of.
#pragma once

#include <ebb/autograd/variable.h>

#include "ops/common/scan.h"

namespace ebb::ops {

/// The kernel run over x, whatever its layout; no graph.
NdArray run_scan(const NdArray& x, std::int64_t dim, ScanKind kind, bool reverse);

/// Sums up to each place, or from it on when `reverse`, in `dtype` (x's own where it is not given).
Variable running_sum(const Variable& x, std::int64_t dim, bool reverse, DType dtype = DType::Undefined);
/// Products up to each place, or from it on.
Variable running_prod(const Variable& x, std::int64_t dim, bool reverse, DType dtype = DType::Undefined);
/// In place, as the op named `op`.
Variable& running_sum_(const Variable& self, const char* op, std::int64_t dim);
Variable& running_prod_(const Variable& self, const char* op, std::int64_t dim);
/// From running products those of what lies before each place, or after it: 1 at the end.
Variable exclusive_prod(const Variable& running, std::int64_t dim, bool reverse);

}  // namespace ebb::ops
