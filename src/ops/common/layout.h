// Memory layouts of results: the order of dimensions, and the channels-last formats.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/options.h>

namespace ebb::ops {

/// Returns the format that results computed from an array of 4 or 5 dimensions should have: channels-last if
/// its strides say so, else Contiguous. With one channel or one element per channel both formats fit; then
/// the strides decide, as in torch.
MemoryFormat suggested_format(const NdArray& x);

/// Returns an uninitialised array in Contiguous or a channels-last format.
NdArray empty_in(IntArrayRef sizes, DType dtype, Device device, MemoryFormat format);

/// Returns x's dimensions in their order in memory, the innermost first.
DimVector memory_order(const NdArray& x);

/// Returns the strides of a new tensor like `like` in a memory format. nullopt and Preserve keep the order of
/// its dimensions in memory, without gaps or overlap.
DimVector strides_like(const NdArray& like, optional<MemoryFormat> format);

/// Returns an uninitialised array with the strides of strides_like().
NdArray empty_array_like(const NdArray& like, DType dtype, Device device,
                         optional<MemoryFormat> format = nullopt);

/// The same in like's dtype and on its device. Returns an undefined array for an undefined `like`.
inline NdArray empty_array_like(const NdArray& like) {
  return like.defined() ? empty_array_like(like, like.dtype(), like.device()) : NdArray();
}

/// Whether the strides are those of the format.
bool has_format(const NdArray& x, MemoryFormat format);

}  // namespace ebb::ops
