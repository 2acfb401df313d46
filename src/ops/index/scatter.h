// What scatter and scatter_reduce share.
#pragma once

#include <ebb/autograd/variable.h>

#include "ops/index/kernels.h"

namespace ebb::ops {

/// The index of a gather or scatter, which is Long, or, with no elements, of any dtype; then as Long.
Variable element_index(const char* op, const Variable& index);
/// The same; throws unless it (and src, if defined) fit x for a scatter along `dim`.
Variable check_scatter(const char* op, const Variable& x, std::int64_t dim, const Variable& places,
                       const Variable& src);
/// The kernel with 0-d arrays allowed and src cut to the shape of index.
void scatter_into(NdArray& out, std::int64_t dim, const NdArray& index, const NdArray& src,
                  kernels::ScatterOp op);
/// gather, then zeros added at the ends up to `sizes`: the gradient of a src larger than index.
Variable gather_to(const Variable& x, std::int64_t dim, const Variable& index, IntArrayRef sizes);

}  // namespace ebb::ops
