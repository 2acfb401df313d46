// Kernel slots of the sort family. Arrays are contiguous; indices are Long.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/call/slot.h"

namespace ebb {

enum class Selection : std::uint8_t { kth, median, nanmedian, mode };

namespace cpu {
/// Sorts x along `dim`. The sort is stable.
void sort(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool descending);
/// Writes the first k elements of each sorted line of x, where k is the size of `values` along `dim`.
/// `largest` sorts in descending order.
void topk(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, bool largest);
/// Selects one element of each line along `dim`. k counts from 0 and is used only for Selection::kth.
void select_element(NdArray& values, NdArray& indices, const NdArray& x, std::int64_t dim, Selection what,
                    std::int64_t k);
/// Finds the classes of equal rows of a matrix [n, m]: the index of the first row of each class, the class of
/// each row, and the size of each class. If `consecutive`, only equal rows that follow each other form a
/// class, and the classes are in order of appearance. Otherwise the classes are sorted by their rows. The
/// kernel allocates its results.
void unique(NdArray& first, NdArray& inverse, NdArray& counts, const NdArray& rows, bool consecutive);
/// Computes out[i, j], the insertion position of values[i, j] in the sorted row lines[i]. If `lines` has only
/// one row, it is used for all i.
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
