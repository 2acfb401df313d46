// The kernels of the index family. Advanced indexing, index_select, embedding, take and their writing twins
// share two: positions become offsets into memory once, then whole rows are read or written.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/slot_list.h"

namespace ebb::kernels {

enum class ScatterOp : std::uint8_t { assign, add, multiply, amax, amin };

/// How index_offsets reads indices and words its errors.
struct IndexRules {
  const char* op = "index";
  bool wraps = true;  // whether negative indices count from the end
  DimVector dims;     // that the indices belong to
};

}  // namespace ebb::kernels

namespace ebb::cpu {

/// out[j] = sum_k indices[k][j] * strides[k]. out is a contiguous Long array; indices are Long arrays of its
/// shape. Throws IndexError for an index outside dimension k's size.
void index_offsets(NdArray& out, ArrayRef<NdArray> indices, IntArrayRef sizes, IntArrayRef strides,
                   const kernels::IndexRules& rules);
/// out[j, ...] = x[...] moved by offsets[j] elements.
void take_rows(NdArray& out, const NdArray& x, const NdArray& offsets);
/// out[...] moved by offsets[j] = values[j, ...], or += values[j, ...], for j in order.
void put_rows(NdArray& out, const NdArray& offsets, const NdArray& values, bool accumulate);
/// out[i][j] = x[index[i][j]][j], for dim 0.
void gather(NdArray& out, const NdArray& x, std::int64_t dim, const NdArray& index);
/// out[index[i][j]][j] (op)= src[i][j], for dim 0, in the order of i.
void scatter(NdArray& out, std::int64_t dim, const NdArray& index, const NdArray& src, kernels::ScatterOp op);
/// out = value (0-d, of out's dtype) where mask, of out's shape, is true.
void masked_fill(NdArray& out, const NdArray& mask, const NdArray& value);
/// out becomes the places of x's elements that are not zero: a contiguous Long array {places, dimensions}.
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
