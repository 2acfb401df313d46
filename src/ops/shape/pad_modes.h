// Padding with elements of the tensor: reflect, replicate and circular.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb::ops {

enum class PadMode : std::uint8_t { reflect, replicate, circular };

/// Pads the last padding.size() / 2 dimensions of x, and checks the padding.
Variable pad_with(const Variable& x, IntArrayRef padding, PadMode mode);
/// Computes the transpose: adds `grad` into the shape `sizes`. `x` is the padded tensor and may be undefined.
/// As in torch, the result counts as depending on it, with a derivative of zero.
Variable pad_with_backward(const Variable& grad, const Variable& x, IntArrayRef sizes, IntArrayRef padding,
                           PadMode mode);

}  // namespace ebb::ops
