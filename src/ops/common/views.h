// Shape arithmetic of views: pure functions from sizes and strides to arrays on the same storage.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/options.h>

#include <initializer_list>
#include <utility>

namespace ebb::ops {

/// Returns the sizes of a batch followed by `more`, the sizes of one element of the batch.
inline DimVector sizes_with(IntArrayRef batch, std::initializer_list<std::int64_t> more) {
  DimVector sizes(batch);
  sizes.append(more.begin(), more.end());
  return sizes;
}
/// Returns `shape` with -1 replaced so that the shape has `numel` elements.
DimVector infer_size(const char* op, IntArrayRef shape, std::int64_t numel);
/// Wraps negative dimensions of a tensor of n dimensions. Throws if a dimension is repeated.
DimVector distinct_dims(const char* op, IntArrayRef dims, std::int64_t n);
/// Returns the strides with which an array of (sizes, strides) can be viewed in `shape` without a copy.
/// Returns nullopt if there are none.
optional<DimVector> view_strides(IntArrayRef sizes, IntArrayRef strides, IntArrayRef shape);

/// select_array() removes dimension `dim` by taking index `index`. slice_array() returns the elements begin,
/// begin + step, ... along `dim`, `length` in total.
NdArray select_array(const NdArray& x, std::int64_t dim, std::int64_t index);
NdArray slice_array(const NdArray& x, std::int64_t dim, std::int64_t begin, std::int64_t length,
                    std::int64_t step = 1);
/// Reverses dimension `dim` with a negative stride, which only kernels accept.
NdArray flip_array(const NdArray& x, std::int64_t dim);
/// Returns x with the dimensions dim1 and dim2 (non-negative, different) replaced by their diagonal, which
/// becomes the last dimension.
NdArray diagonal_array(const NdArray& x, std::int64_t offset, std::int64_t dim1, std::int64_t dim2);
NdArray unfold_array(const NdArray& x, std::int64_t dim, std::int64_t size, std::int64_t step);
NdArray permute_array(const NdArray& x, IntArrayRef dims);
/// Exchanges two dimensions (wrapped). Returns x itself if it has no dimensions.
NdArray transpose_array(const NdArray& x, std::int64_t dim0, std::int64_t dim1);
/// Returns start and end of a slice by torch's rules. A negative value counts from the end. Both are then
/// clamped to [0, size], and end is at least start.
std::pair<std::int64_t, std::int64_t> slice_bounds(optional<std::int64_t> start, optional<std::int64_t> end,
                                                   std::int64_t size);
inline std::int64_t slice_length(std::int64_t start, std::int64_t end, std::int64_t step) {
  return (end - start) / step + ((end - start) % step != 0);
}

}  // namespace ebb::ops
