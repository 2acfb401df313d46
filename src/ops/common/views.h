// Shape arithmetic of views: pure functions from sizes and strides to arrays on the same storage.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/options.h>

#include <initializer_list>
#include <utility>

namespace ebb::ops {

/// The sizes of a batch, and those of its elements behind them.
inline DimVector sizes_with(IntArrayRef batch, std::initializer_list<std::int64_t> more) {
  DimVector sizes(batch);
  sizes.append(more.begin(), more.end());
  return sizes;
}
/// `shape` with its -1 replaced so that it holds `numel` elements.
DimVector infer_size(const char* op, IntArrayRef shape, std::int64_t numel);
/// `dims` of a tensor of n dimensions, negative ones counted from the end; each may be named once.
DimVector distinct_dims(const char* op, IntArrayRef dims, std::int64_t n);
/// The strides that show elements laid out by (sizes, strides) in `shape`, unless only a copy could.
optional<DimVector> view_strides(IntArrayRef sizes, IntArrayRef strides, IntArrayRef shape);

/// Removes (keep = false) or keeps dimension `dim`, narrowed to `index`, or to begin, begin + step, ....
NdArray select_array(const NdArray& x, std::int64_t dim, std::int64_t index);
NdArray slice_array(const NdArray& x, std::int64_t dim, std::int64_t begin, std::int64_t length,
                    std::int64_t step = 1);
/// Dimension `dim` back to front: negative strides, for kernels only.
NdArray flip_array(const NdArray& x, std::int64_t dim);
/// dim1 and dim2 (wrapped, different) replaced by their diagonal as last dimension.
NdArray diagonal_array(const NdArray& x, std::int64_t offset, std::int64_t dim1, std::int64_t dim2);
NdArray unfold_array(const NdArray& x, std::int64_t dim, std::int64_t size, std::int64_t step);
NdArray permute_array(const NdArray& x, IntArrayRef dims);
/// Two dimensions (wrapped) exchanged; x itself if it has none.
NdArray transpose_array(const NdArray& x, std::int64_t dim0, std::int64_t dim1);
/// start and end of a slice as torch reads them: negative from the end, then clamped; end >= start.
std::pair<std::int64_t, std::int64_t> slice_bounds(optional<std::int64_t> start, optional<std::int64_t> end,
                                                   std::int64_t size);
inline std::int64_t slice_length(std::int64_t start, std::int64_t end, std::int64_t step) {
  return (end - start) / step + ((end - start) % step != 0);
}

}  // namespace ebb::ops
