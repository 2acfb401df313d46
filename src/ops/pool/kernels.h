// The kernels of pooling. Arrays are contiguous, on CUDA also channels-last (PoolGeometry::interleaved).
// Indices count within a plane, row-major in either format, in int32 or int64.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/visit.h>

#include "kernel/slot_list.h"
#include "ops/pool/geometry.h"

namespace ebb {

namespace kernels {

/// The dtypes that means are taken of: the floating ones, and Long.
template <class F>
void visit_mean(DType dtype, F&& f) {
  if (dtype == kLong)
    f.template operator()<std::int64_t>();
  else
    visit_floating(dtype, "avg_pool", f);
}
}  // namespace kernels

namespace cpu {
/// out = the greatest element of each window, indices (may be undefined) where it stands: the first of equal
/// ones; a NaN counts as greatest.
void max_pool(NdArray& out, NdArray& indices, const NdArray& in, const PoolGeometry& geometry);
/// out = the mean of each window, of a floating dtype or Long.
void mean_pool(NdArray& out, const NdArray& in, const PoolGeometry& geometry);
/// Its transpose.
void mean_pool_backward(NdArray& in, const NdArray& out, const PoolGeometry& geometry);
/// in[plane, p] = the sum of out[plane, i] over the windows i, in order, that chose p: indices[plane, i] ==
/// p.
void max_pool_backward(NdArray& in, const NdArray& out, const NdArray& indices, const PoolGeometry& geometry);
/// out[plane, i] = in[plane, indices[plane, i]].
void pool_gather(NdArray& out, const NdArray& in, const NdArray& indices, const PoolPlanes& p);
/// in = 0, then in[plane, indices[plane, i]] += out[plane, i]; or = out[plane, i], in order, when
/// `overwrite`. For indices of a caller, which need not be those of windows.
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
