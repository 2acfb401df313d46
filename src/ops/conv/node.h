// Convolution as three ops, each bilinear and each the others' derivative.
#pragma once

#include <ebb/autograd/variable.h>

#include "ops/conv/geometry.h"

namespace ebb::ops {

enum class ConvKind : std::uint8_t { forward, input, weight };

/// forward: (in, weight) -> out. input: (out, weight) -> in. weight: (out, in) -> weight. The result's shape
/// follows from the geometry and `dims`, the number of spatial axes; bias, which `weight` has not, may be
/// undefined. The graph sees torch's ConvolutionBackward0 on layers, ConvolutionBackwardBackward0 on their
/// gradients.
Variable convolve(ConvKind kind, const Variable& first, const Variable& second, const Variable& bias,
                  const ConvGeometry& geometry, int dims, bool is_layer);

}  // namespace ebb::ops
