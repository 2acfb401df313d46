// The matrix product of recurrent layers, whose result may be Float for 16-bit operands.
#pragma once

#include <ebb/core/ndarray.h>

namespace ebb::ops {

/// Computes out = a b^T for matrices (linalg/product.cpp). a and b have out's dtype; on the CPU they may also
/// have a 16-bit dtype if out is Float.
void product_transposed(NdArray& out, const NdArray& a, const NdArray& b);

}  // namespace ebb::ops
