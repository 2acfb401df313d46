// The kernels of pooling. Arrays are contiguous, on CUDA also channels-last (PoolGeometry::interleaved).
// Indices count within a plane, row-major in either format, in int32 or int64.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/visit.h>

#include "kernel/slot.h"
#include "ops/pool/geometry.h"

namespace ebb {

namespace kernels {
/// out = the greatest element of each window, indices (may be undefined) where it stands: the first of equal
/// ones; a NaN counts as greatest.
extern EBB_API
    KernelSlot<void(NdArray& out, NdArray& indices, const NdArray& in, const PoolGeometry& geometry)>
        max_pool;
/// out = the mean of each window, of a floating dtype or Long.
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& in, const PoolGeometry& geometry)> mean_pool;
/// Its transpose.
extern EBB_API KernelSlot<void(NdArray& in, const NdArray& out, const PoolGeometry& geometry)>
    mean_pool_backward;
/// in[plane, p] = the sum of out[plane, i] over the windows i, in order, that chose p: indices[plane, i] ==
/// p.
extern EBB_API
    KernelSlot<void(NdArray& in, const NdArray& out, const NdArray& indices, const PoolGeometry& geometry)>
        max_pool_backward;
/// out[plane, i] = in[plane, indices[plane, i]].
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& in, const NdArray& indices, const PoolPlanes& p)>
    pool_gather;
/// in = 0, then in[plane, indices[plane, i]] += out[plane, i]; or = out[plane, i], in order, when
/// `overwrite`. For indices of a caller, which need not be those of windows.
extern EBB_API KernelSlot<void(NdArray& in, const NdArray& out, const NdArray& indices, const PoolPlanes& p,
                               bool overwrite)>
    pool_scatter;

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
void max_pool(NdArray& out, NdArray& indices, const NdArray& in, const PoolGeometry& geometry);
void mean_pool(NdArray& out, const NdArray& in, const PoolGeometry& geometry);
void mean_pool_backward(NdArray& in, const NdArray& out, const PoolGeometry& geometry);
void max_pool_backward(NdArray& in, const NdArray& out, const NdArray& indices, const PoolGeometry& geometry);
void pool_gather(NdArray& out, const NdArray& in, const NdArray& indices, const PoolPlanes& p);
void pool_scatter(NdArray& in, const NdArray& out, const NdArray& indices, const PoolPlanes& p,
                  bool overwrite);
}  // namespace cpu

}  // namespace ebb
