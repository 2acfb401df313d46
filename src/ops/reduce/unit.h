// x over its norm, with a derivative that no square leaves the range by.
#pragma once

#include <ebb/autograd/variable.h>

#include "ops/common/dims.h"

namespace ebb::ops {

/// x / norm, where norm is that of x over the dimensions of `mask`, with 1 in their places and, where it is
/// 0, anything else. Norm itself gets no gradient: that of x counts it in.
Variable unit_vector(const Variable& x, const Variable& norm, DimMask mask);

}  // namespace ebb::ops
