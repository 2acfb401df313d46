// Kernel slots of pooling. Arrays are contiguous, or on CUDA also channels-last (PoolGeometry::interleaved).
// Indices are positions in a plane, in row-major order for both formats. They are int32 or int64.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/visit.h>

#include "kernel/call/slot.h"
#include "ops/pool/geometry.h"

namespace ebb {

namespace kernels {

/// Dispatches on the dtypes of mean pooling: the floating-point types and Long.
template <class F>
void visit_mean(DType dtype, F&& f) {
  if (dtype == kLong)
    f.template operator()<std::int64_t>();
  else
    visit_floating(dtype, "avg_pool", f);
}
}  // namespace kernels

namespace cpu {
/// Computes the greatest element of each window and, if indices is defined, its position. If several elements
/// are equally great, it is the position of the first one. A NaN counts as greatest.
void max_pool(NdArray& out, NdArray& indices, const NdArray& in, const PoolGeometry& geometry);
/// Computes the mean of each window, of a floating-point dtype or Long.
void mean_pool(NdArray& out, const NdArray& in, const PoolGeometry& geometry);
/// Computes the transpose of mean_pool().
void mean_pool_backward(NdArray& in, const NdArray& out, const PoolGeometry& geometry);
/// Computes in[plane, p], the sum of out[plane, i] over all windows i with indices[plane, i] == p, in order.
void max_pool_backward(NdArray& in, const NdArray& out, const NdArray& indices, const PoolGeometry& geometry);
/// Computes out[plane, i] = in[plane, indices[plane, i]].
void pool_gather(NdArray& out, const NdArray& in, const NdArray& indices, const PoolPlanes& p);
/// Sets in = 0, then computes in[plane, indices[plane, i]] += out[plane, i]. If `overwrite`, assigns
/// out[plane, i] in the order of i instead of adding it. The indices may be any positions in the plane, not
/// only the results of max_pool().
void pool_scatter(NdArray& in, const NdArray& out, const NdArray& indices, const PoolPlanes& p,
                  bool overwrite);
}  // namespace cpu

}  // namespace ebb

#define EBB_POOL_KERNELS(X)                   \
  X(max_pool, "max_pool");                    \
  X(mean_pool, "avg_pool");                   \
  X(mean_pool_backward, "avg_pool_backward"); \
  X(max_pool_backward, "max_pool_backward");  \
  X(pool_gather, "pool_gather");              \
  X(pool_scatter, "pool_scatter");
EBB_DECLARE_KERNELS(EBB_POOL_KERNELS)
