// Kernel slots of the index family. Advanced indexing, index_select, embedding, take and their in-place ops
// share two kernels: indices are converted to memory offsets once, then whole rows are read or written.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/call/slot.h"

namespace ebb::kernels {

enum class ScatterOp : std::uint8_t { assign, add, multiply, amax, amin };

/// The rules by which index_offsets reads indices, and the names in its errors.
struct IndexRules {
  const char* op = "index";
  bool wraps = true;  // true if negative indices count from the end
  DimVector dims;     // the dimensions that the indices refer to
};

}  // namespace ebb::kernels

namespace ebb::cpu {

/// Computes out[j] = sum_k indices[k][j] * strides[k]. out is a contiguous Long array; indices are Long
/// arrays of the same shape. Throws IndexError if an index is out of bounds for sizes[k].
void index_offsets(NdArray& out, ArrayRef<NdArray> indices, IntArrayRef sizes, IntArrayRef strides,
                   const kernels::IndexRules& rules);
/// Computes out[j, ...] = x[...], where x is shifted by offsets[j] elements.
void take_rows(NdArray& out, const NdArray& x, const NdArray& offsets);
/// Computes out[...] = values[j, ...] or, if accumulate, += values[j, ...], where out is shifted by
/// offsets[j], for each j in order.
void put_rows(NdArray& out, const NdArray& offsets, const NdArray& values, bool accumulate);
/// Computes out[i][j] = x[index[i][j]][j], for dim 0.
void gather(NdArray& out, const NdArray& x, std::int64_t dim, const NdArray& index);
/// Computes out[index[i][j]][j] (op)= src[i][j], for dim 0, in the order of i.
void scatter(NdArray& out, std::int64_t dim, const NdArray& index, const NdArray& src, kernels::ScatterOp op);
/// Sets the elements of out to `value` where the mask is true. The mask has the shape of out. `value` has no
/// dimensions and the dtype of out.
void masked_fill(NdArray& out, const NdArray& mask, const NdArray& value);
/// Sets out to the indices of x's nonzero elements: a contiguous Long array [count, dimensions].
void nonzero(NdArray& out, const NdArray& x);

}  // namespace ebb::cpu

#define EBB_INDEX_KERNELS(X)         \
  X(index_offsets, "index_offsets"); \
  X(take_rows, "take_rows");         \
  X(put_rows, "put_rows");           \
  X(gather, "gather");               \
  X(scatter, "scatter");             \
  X(masked_fill, "masked_fill");     \
  X(nonzero, "nonzero");
EBB_DECLARE_KERNELS(EBB_INDEX_KERNELS)
