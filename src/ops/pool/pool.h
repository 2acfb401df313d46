// What max and mean pooling share.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/ops/copy.h>

#include "ops/pool/geometry.h"

namespace ebb::ops {

/// Checks the arguments of a pooling over `dims` axes; throws errors that name `op`.
PoolGeometry pool_geometry(const char* op, const Variable& x, int dims, IntArrayRef kernel,
                           IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool ceil_mode);
PoolGeometry adaptive_geometry(const char* op, const Variable& x, int dims, IntArrayRef output_size);
/// The result's shape.
DimVector pooled_shape(const Variable& x, const PoolGeometry& g, int dims);
/// x's elements, contiguous.
NdArray pool_operand(const Variable& x);

/// Names of the nodes of one pooling: torch's, on the layer and on its gradient.
struct PoolNames {
  const char* layer;
  const char* gradient;
};

}  // namespace ebb::ops
