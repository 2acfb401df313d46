// The kernels of the index family. Advanced indexing, index_select, embedding, take and their writing twins
// share two: positions become offsets into memory once, then whole rows are read or written.
#pragma once

#include "kernel/slot.h"

#include <ebb/core/ndarray.h>

namespace ebb::kernels {

enum class ScatterOp : std::uint8_t { assign, add, multiply, amax, amin };

/// How index_offsets reads indices and words its errors.
struct IndexRules {
  const char* op = "index";
  bool wraps = true;                   // whether negative indices count from the end
  const std::int64_t* dims = nullptr;  // the dimension that each index belongs to
};

/// out[j] = sum_k indices[k][j] * strides[k]. out is a contiguous Long array; indices are Long arrays of its
/// shape. Throws IndexError for an index outside dimension k's size.
extern EBB_API KernelSlot<void(NdArray& out, ArrayRef<NdArray> indices, IntArrayRef sizes,
                               IntArrayRef strides, const IndexRules& rules)>
    index_offsets;
/// out[j, ...] = x[...] moved by offsets[j] elements.
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& x, const NdArray& offsets)> take_rows;
/// out[...] moved by offsets[j] = values[j, ...], or += values[j, ...], for j in order.
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& offsets, const NdArray& values, bool accumulate)>
    put_rows;
/// out[i][j] = x[index[i][j]][j], for dim 0.
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& x, std::int64_t dim, const NdArray& index)>
    gather;
/// out[index[i][j]][j] (op)= src[i][j], for dim 0, in the order of i.
extern EBB_API
    KernelSlot<void(NdArray& out, std::int64_t dim, const NdArray& index, const NdArray& src, ScatterOp op)>
        scatter;
/// out = value (0-d, of out's dtype) where mask, of out's shape, is true.
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& mask, const NdArray& value)> masked_fill;
/// out becomes the places of x's elements that are not zero: a contiguous Long array {places, dimensions}.
extern EBB_API KernelSlot<void(NdArray& out, const NdArray& x)> nonzero;

}  // namespace ebb::kernels

namespace ebb::cpu {

void index_offsets(NdArray& out, ArrayRef<NdArray> indices, IntArrayRef sizes, IntArrayRef strides,
                   const kernels::IndexRules& rules);
void take_rows(NdArray& out, const NdArray& x, const NdArray& offsets);
void put_rows(NdArray& out, const NdArray& offsets, const NdArray& values, bool accumulate);
void gather(NdArray& out, const NdArray& x, std::int64_t dim, const NdArray& index);
void scatter(NdArray& out, std::int64_t dim, const NdArray& index, const NdArray& src, kernels::ScatterOp op);
void masked_fill(NdArray& out, const NdArray& mask, const NdArray& value);
void nonzero(NdArray& out, const NdArray& x);

}  // namespace ebb::cpu
