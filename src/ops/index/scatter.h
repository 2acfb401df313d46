// What scatter and scatter_reduce share.
#pragma once

#include "ops/index/kernels.h"

#include <ebb/autograd/variable.h>

namespace ebb::ops {

/// Throws unless index (and src, if defined) fit x for a scatter along `dim`.
void check_scatter(const char* op, const Variable& x, std::int64_t dim, const Variable& index,
                   const Variable& src);
/// The kernel with 0-d arrays allowed and src cut to the shape of index.
void scatter_into(NdArray& out, std::int64_t dim, const NdArray& index, const NdArray& src,
                  kernels::ScatterOp op);
/// gather, then zeros added at the ends up to `sizes`: the gradient of a src larger than index.
Variable gather_to(const Variable& x, std::int64_t dim, const Variable& index, IntArrayRef sizes);

}  // namespace ebb::ops
