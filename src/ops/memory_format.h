// Channels-last: which results take the layout of what they are computed from.
#pragma once

#include <ebb/core/ndarray.h>

namespace ebb::ops {

/// The format that an array of 4 or 5 dimensions asks its successors to take: channels-last if its strides
/// say so, else Contiguous. One channel or one place per channel fits both formats; the strides then decide,
/// as in torch.
MemoryFormat suggested_format(const NdArray& x);

/// Uninitialised, in Contiguous or a channels-last format.
NdArray empty_in(IntArrayRef sizes, DType dtype, Device device, MemoryFormat format);

}  // namespace ebb::ops
