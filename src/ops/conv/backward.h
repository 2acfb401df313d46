// Convolution as three ops, each bilinear and each the others' derivative.
#pragma once

#include <ebb/autograd/variable.h>

#include "ops/conv/geometry.h"

namespace ebb::ops {

enum class ConvKind : std::uint8_t { forward, input, weight };

/// What a layer settles for itself and all its derivatives.
struct Convolution {
  ConvGeometry geometry;
  int dims = 2;                                           // spatial axes
  MemoryFormat format = MemoryFormat::Contiguous;         // of results shaped like in or out
  MemoryFormat weight_format = MemoryFormat::Contiguous;  // of results shaped like the weight
};

/// forward: (in, weight) -> out. input: (out, weight) -> in. weight: (out, in) -> weight. bias, which
/// `weight` has not, may be undefined; relu, which only `forward` has, is applied last. The graph sees
/// torch's ConvolutionBackward0 on layers, ConvolutionBackwardBackward0 on their gradients.
Variable convolve(ConvKind kind, const Variable& first, const Variable& second, const Variable& bias,
                  const Convolution& convolution, bool is_layer, bool relu = false);

}  // namespace ebb::ops
