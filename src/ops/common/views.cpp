// Shape arithmetic of views.
#include "ops/common/views.h"

#include <algorithm>

namespace ebb::ops {

DimVector infer_size(const char* op, IntArrayRef shape, std::int64_t numel) {
  DimVector sizes(shape);
  std::int64_t known = 1;
  std::size_t open = shape.size();
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == -1) {
      EBB_CHECK(open == shape.size(), op, ": only one dimension can be inferred, got shape ", shape, ".");
      open = i;
    } else {
      EBB_CHECK(shape[i] >= 0, op, ": invalid shape dimension ", shape[i], " in shape ", shape, ".");
      known *= shape[i];
    }
  }
  if (open < shape.size()) {
    EBB_CHECK(known != 0, op, ": cannot reshape a tensor of ", numel, " elements into shape ", shape,
              " because the size at -1 can be any value. Write it out.");
    EBB_CHECK(numel % known == 0, op, ": shape '", shape, "' is invalid for input of size ", numel, ".");
    sizes[open] = numel / known;
  } else {
    EBB_CHECK(known == numel, op, ": shape '", shape, "' is invalid for input of size ", numel, ".");
  }
  return sizes;
}

DimVector distinct_dims(const char* op, IntArrayRef dims, std::int64_t n) {
  DimVector wrapped(dims);
  SmallVector<bool, 64> seen(static_cast<std::size_t>(std::max<std::int64_t>(n, 1)), false);
  for (std::int64_t& d : wrapped) {
    d = wrap_dim(op, d, n);
    EBB_CHECK(!seen[d], op, ": dimension ", d, " appears multiple times in ", dims, ". Name it once.");
    seen[d] = true;
  }
  return wrapped;
}

optional<DimVector> view_strides(IntArrayRef sizes, IntArrayRef strides, IntArrayRef shape) {
  if (sizes.empty()) return DimVector(shape.size(), 1);
  const std::int64_t numel = checked_numel(sizes);
  if (numel == 0) return sizes == shape ? DimVector(strides) : contiguous_strides(shape);
  DimVector out(shape.size());
  std::int64_t to = static_cast<std::int64_t>(shape.size()) - 1;
  // Iterates from the last dimension to the first. Each group of old dimensions that is contiguous in memory
  // must have as many elements as a group of new dimensions.
  std::int64_t base = strides.back(), old_count = 1, new_count = 1;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    old_count *= sizes[d];
    if (d != 0 && (sizes[d - 1] == 1 || strides[d - 1] == old_count * base)) continue;
    while (to >= 0 && (new_count < old_count || shape[to] == 1)) {
      out[to] = new_count * base;
      new_count *= shape[to--];
    }
    if (new_count != old_count) return nullopt;
    if (d != 0) {
      base = strides[d - 1];
      old_count = new_count = 1;
    }
  }
  if (to >= 0) return nullopt;
  return out;
}

NdArray select_array(const NdArray& x, std::int64_t dim, std::int64_t index) {
  DimVector sizes(x.sizes()), strides(x.strides());
  const std::int64_t offset = x.offset() + index * strides[dim];
  sizes.erase(sizes.begin() + dim);
  strides.erase(strides.begin() + dim);
  return NdArray(x.storage(), std::move(sizes), std::move(strides), offset, x.dtype());
}

namespace {

// Returns stride * step. If the product overflows, returns `stride`: the dimension then has only one element,
// and its stride is never used.
std::int64_t stride_of(std::int64_t stride, std::int64_t step) {
  std::int64_t product;
  return __builtin_mul_overflow(stride, step, &product) ? stride : product;
}

}  // namespace

NdArray slice_array(const NdArray& x, std::int64_t dim, std::int64_t begin, std::int64_t length,
                    std::int64_t step) {
  DimVector sizes(x.sizes()), strides(x.strides());
  const std::int64_t offset = x.offset() + begin * strides[dim];
  sizes[dim] = length;
  strides[dim] = stride_of(strides[dim], step);
  return NdArray(x.storage(), std::move(sizes), std::move(strides), offset, x.dtype());
}

NdArray flip_array(const NdArray& x, std::int64_t dim) {
  DimVector strides(x.strides());
  const std::int64_t last = std::max<std::int64_t>(x.sizes()[dim] - 1, 0);
  const std::int64_t offset = x.offset() + last * strides[dim];
  strides[dim] = -strides[dim];
  return x.as_strided(x.sizes(), strides, offset);
}

NdArray diagonal_array(const NdArray& x, std::int64_t offset, std::int64_t dim1, std::int64_t dim2) {
  DimVector sizes(x.sizes()), strides(x.strides());
  const std::int64_t row_skip = std::max<std::int64_t>(-offset, 0),
                     column_skip = std::max<std::int64_t>(offset, 0);
  const std::int64_t length =
      std::max<std::int64_t>(std::min(sizes[dim1] - row_skip, sizes[dim2] - column_skip), 0);
  const std::int64_t stride = strides[dim1] + strides[dim2];
  const std::int64_t start = length ? row_skip * strides[dim1] + column_skip * strides[dim2] : 0;
  for (const std::int64_t d : {std::max(dim1, dim2), std::min(dim1, dim2)}) {
    sizes.erase(sizes.begin() + d);
    strides.erase(strides.begin() + d);
  }
  sizes.push_back(length);
  strides.push_back(stride);
  return NdArray(x.storage(), std::move(sizes), std::move(strides), x.offset() + start, x.dtype());
}

NdArray unfold_array(const NdArray& x, std::int64_t dim, std::int64_t size, std::int64_t step) {
  DimVector sizes(x.sizes()), strides(x.strides());
  if (sizes.empty()) {
    sizes.push_back(size);
    strides.push_back(1);
  } else {
    sizes.push_back(size);
    strides.push_back(strides[dim]);
    sizes[dim] = (sizes[dim] - size) / step + 1;
    strides[dim] = stride_of(strides[dim], step);
  }
  return NdArray(x.storage(), std::move(sizes), std::move(strides), x.offset(), x.dtype());
}

NdArray permute_array(const NdArray& x, IntArrayRef dims) {
  DimVector sizes(dims.size()), strides(dims.size());
  for (std::size_t i = 0; i < dims.size(); ++i) {
    sizes[i] = x.sizes()[dims[i]];
    strides[i] = x.strides()[dims[i]];
  }
  return NdArray(x.storage(), std::move(sizes), std::move(strides), x.offset(), x.dtype());
}

NdArray transpose_array(const NdArray& x, std::int64_t dim0, std::int64_t dim1) {
  if (x.dim() == 0) return x;
  DimVector sizes(x.sizes()), strides(x.strides());
  std::swap(sizes[dim0], sizes[dim1]);
  std::swap(strides[dim0], strides[dim1]);
  return x.as_strided(sizes, strides, x.offset());
}

std::pair<std::int64_t, std::int64_t> slice_bounds(optional<std::int64_t> start, optional<std::int64_t> end,
                                                   std::int64_t size) {
  std::int64_t from = start.value_or(0), to = end.value_or(size);
  if (from < 0) from += size;
  if (to < 0) to += size;
  from = std::clamp<std::int64_t>(from, 0, size);
  to = std::clamp<std::int64_t>(to, from, size);
  return {from, to};
}

}  // namespace ebb::ops
