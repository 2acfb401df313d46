// A product of matrices that recurrent layers take in float, whatever its operands are.
#pragma once

#include <ebb/core/ndarray.h>

namespace ebb::ops {

/// out = a b^T for matrices (linalg/product.cpp). The operands are of out's dtype; or, on the CPU, of 16 bits
/// where out is of float.
void product_transposed(NdArray& out, const NdArray& a, const NdArray& b);

}  // namespace ebb::ops
