// unit_vector: x / norm with a derivative whose squares do not overflow.
#pragma once

#include <ebb/autograd/variable.h>

#include "ops/common/dims.h"

namespace ebb::ops {

/// Returns x / norm, where norm is the norm of x over the dimensions of `mask`, which have size 1. Where the
/// norm of x is 0, `norm` may hold any other value. `norm` gets no gradient, because that of x includes its
/// part.
Variable unit_vector(const Variable& x, const Variable& norm, DimMask mask);

}  // namespace ebb::ops
