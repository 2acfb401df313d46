// Kernel slots of the sort family. Arrays are contiguous; indices are Long.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/slot_list.h"

namespace ebb {

enum class Selection : std::uint8_t { kth, median, nanmedian, mode };

namespace cpu {
/// All of x's lines along `dim`, in order; equal elements keep theirs.
void sort(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool descending);
/// The first k of them.
void topk(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool largest);
/// One element of each line; k counts from 0 and matters for Selection::kth.
void select_element(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, Selection what,
                    std::int64_t k);
/// Of rows [n, m]: the number of the first of each kind, the kind of every row, the size of every kind. Kinds
/// are in order, or as they come when `consecutive`. The kernel allocates its results.
void unique(NdArray& first, NdArray& inverse, NdArray& counts, const NdArray& rows, bool consecutive);
/// out[i, j] = where values[i, j] goes into the sorted line lines[i] (or the only line).
void searchsorted(NdArray& out, const NdArray& lines, const NdArray& values, bool right);
}  // namespace cpu

}  // namespace ebb

#define EBB_SORT_KERNELS(X)            \
  X(sort, "sort");                     \
  X(topk, "topk");                     \
  X(select_element, "select_element"); \
  X(unique, "unique");                 \
  X(searchsorted, "searchsorted");
EBB_DECLARE_KERNELS(EBB_SORT_KERNELS)
