// Padding with what stands in the tensor.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb::ops {

enum class PadMode : std::uint8_t { reflect, replicate, circular };

/// x padded in its last padding.size() / 2 dimensions; checks the amounts.
Variable pad_with(const Variable& x, IntArrayRef padding, PadMode mode);
/// Its transpose: `grad` added up in shape `sizes`. `x` (may be undefined) is what was padded: as in torch,
/// the result counts as depending on it, with a derivative of zero.
Variable pad_with_backward(const Variable& grad, const Variable& x, IntArrayRef sizes, IntArrayRef padding,
                           PadMode mode);

}  // namespace ebb::ops
