// What the gradients of scans and products share.
#pragma once

#include "ops/scan/kernels.h"

#include <ebb/autograd/variable.h>

namespace ebb::ops {

/// Sums up to each place, or from it on. Floating dtypes.
Variable running_sum(const Variable& x, std::int64_t dim, bool reverse);
/// Products up to each place, or from it on. Floating dtypes.
Variable running_prod(const Variable& x, std::int64_t dim, bool reverse);
/// Products of what lies before each place, or after it: 1 at the end.
Variable exclusive_prod(const Variable& running, std::int64_t dim, bool reverse);

}  // namespace ebb::ops
