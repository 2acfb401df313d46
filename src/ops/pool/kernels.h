// The kernels of pooling. All arrays are contiguous; indices count within a plane, in int32 or int64.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/slot.h"
#include "ops/pool/geometry.h"

namespace ebb {

namespace kernels {
/// out = the greatest element of each window, indices (may be undefined) where it stands: the first of equal
/// ones; a NaN counts as greatest.
extern EBB_API
    KernelSlot<void(NdArray& out, NdArray& indices, const NdArray& in, const PoolGeometry& geometry)>
        max_pool;
/// out = the mean of each window.
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& in, const PoolGeometry& geometry)> mean_pool;
/// Its transpose.
extern EBB_API KernelSlot<void(NdArray& in, const NdArray& out, const PoolGeometry& geometry)>
    mean_pool_backward;
/// out[plane, i] = in[plane, indices[plane, i]].
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& in, const NdArray& indices, std::int64_t planes)>
    pool_gather;
/// in = 0, then in[plane, indices[plane, i]] += out[plane, i]; or = out[plane, i], in order, when
/// `overwrite`.
extern EBB_API KernelSlot<void(NdArray& in, const NdArray& out, const NdArray& indices, std::int64_t planes,
                               bool overwrite)>
    pool_scatter;
}  // namespace kernels

namespace cpu {
void max_pool(NdArray& out, NdArray& indices, const NdArray& in, const PoolGeometry& geometry);
void mean_pool(NdArray& out, const NdArray& in, const PoolGeometry& geometry);
void mean_pool_backward(NdArray& in, const NdArray& out, const PoolGeometry& geometry);
void pool_gather(NdArray& out, const NdArray& in, const NdArray& indices, std::int64_t planes);
void pool_scatter(NdArray& in, const NdArray& out, const NdArray& indices, std::int64_t planes,
                  bool overwrite);
}  // namespace cpu

}  // namespace ebb
