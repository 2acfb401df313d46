// Helpers of scatter and scatter_reduce.
#pragma once

#include <ebb/autograd/variable.h>

#include "ops/index/kernels.h"

namespace ebb::ops {

/// Returns the index of a gather or scatter as Long. It must be Long or Int; an empty one may have any dtype.
Variable element_index(const char* op, const Variable& index);
/// Does the same, and throws unless the index (and src, if defined) fits x for a scatter along `dim`.
Variable check_scatter(const char* op, const Variable& x, std::int64_t dim, const Variable& places,
                       const Variable& src);
/// Calls the kernel. Allows 0-d arrays, and narrows src to the shape of index.
void scatter_into(NdArray& out, std::int64_t dim, const NdArray& index, const NdArray& src,
                  kernels::ScatterOp op);
/// Gathers, then pads with zeros up to `sizes`: the gradient of a src larger than index.
Variable gather_to(const Variable& x, std::int64_t dim, const Variable& index, IntArrayRef sizes);

}  // namespace ebb::ops
