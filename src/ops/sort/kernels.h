// Kernel slots of the sort family. Arrays are contiguous; indices are Long.
#pragma once

#include "kernel/slot.h"

#include <ebb/core/ndarray.h>

namespace ebb {

enum class Selection : std::uint8_t { kth, median, nanmedian, mode };

namespace kernels {
/// All of x's lines along `dim`, in order; equal elements keep theirs.
extern EBB_API
    KernelSlot<void(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool descending)>
        sort;
/// The first k of them.
extern EBB_API
    KernelSlot<void(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool largest)>
        topk;
/// One element of each line; k counts from 0 and matters for Selection::kth.
extern EBB_API KernelSlot<void(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim,
                               Selection what, std::int64_t k)>
    select_element;
/// Of rows [n, m]: the number of the first of each kind, the kind of every row, the size of every kind. Kinds
/// are in order, or as they come when `consecutive`. The kernel allocates its results.
extern EBB_API
    KernelSlot<void(NdArray& first, NdArray& inverse, NdArray& counts, const NdArray& rows, bool consecutive)>
        unique;
/// out[i, j] = where values[i, j] goes into the sorted line lines[i] (or the only line).
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& lines, const NdArray& values, bool right)>
    searchsorted;
}  // namespace kernels

namespace cpu {
void sort(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool descending);
void topk(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool largest);
void select_element(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, Selection what,
                    std::int64_t k);
void unique(NdArray& first, NdArray& inverse, NdArray& counts, const NdArray& rows, bool consecutive);
void searchsorted(NdArray& out, const NdArray& lines, const NdArray& values, bool right);
}  // namespace cpu
}  // namespace ebb
