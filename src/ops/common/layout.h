// Memory layouts of results: the order of dimensions, and the channels-last formats.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/options.h>

namespace ebb::ops {

/// Returns the memory format for results that are computed from x, which has 4 or 5 dimensions: channels-last
/// if x has strides in that order, otherwise Contiguous. If there is one channel, or one element per channel,
/// both formats fit; then the strides decide, as in torch.
MemoryFormat suggested_format(const NdArray& x);

/// Returns an uninitialised array in Contiguous or a channels-last format.
NdArray empty_in(IntArrayRef sizes, DType dtype, Device device, MemoryFormat format);

/// Returns x's dimensions in their order in memory, the innermost first.
DimVector memory_order(const NdArray& x);

/// Returns the strides of a new tensor like `like` in a memory format. With nullopt or Preserve the new
/// tensor has the order of dimensions that `like` has in memory, without gaps or overlap.
DimVector strides_like(const NdArray& like, optional<MemoryFormat> format);

/// Returns an uninitialised array with the strides of strides_like().
NdArray empty_array_like(const NdArray& like, DType dtype, Device device,
                         optional<MemoryFormat> format = nullopt);

/// Returns an uninitialised array with the strides, dtype and device of `like`, or an undefined array if
/// `like` is undefined.
inline NdArray empty_array_like(const NdArray& like) {
  return like.defined() ? empty_array_like(like, like.dtype(), like.device()) : NdArray();
}

/// Returns whether the strides are those of the format.
bool has_format(const NdArray& x, MemoryFormat format);

}  // namespace ebb::ops
