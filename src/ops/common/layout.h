// Layouts of results: the order of dimensions in memory and the channels-last formats.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/options.h>

namespace ebb::ops {

/// The format that an array of 4 or 5 dimensions asks its successors to take: channels-last if its strides
/// say so, else Contiguous. One channel or one place per channel fits both formats; the strides then decide,
/// as in torch.
MemoryFormat suggested_format(const NdArray& x);

/// Uninitialised, in Contiguous or a channels-last format.
NdArray empty_in(IntArrayRef sizes, DType dtype, Device device, MemoryFormat format);

/// x's dimensions by their place in memory, the innermost first.
DimVector memory_order(const NdArray& x);

/// The strides of a fresh tensor made after `like` in a memory format; nullopt and Preserve keep the order of
/// its dimensions in memory, without gaps or overlap.
DimVector strides_like(const NdArray& like, optional<MemoryFormat> format);

/// Uninitialised, in the layout of strides_like().
NdArray empty_array_like(const NdArray& like, DType dtype, Device device,
                         optional<MemoryFormat> format = nullopt);

/// The same in like's dtype and on its device; none of an undefined array.
inline NdArray empty_array_like(const NdArray& like) {
  return like.defined() ? empty_array_like(like, like.dtype(), like.device()) : NdArray();
}

/// Whether the elements lie in the order that the format asks for.
bool has_format(const NdArray& x, MemoryFormat format);

}  // namespace ebb::ops
