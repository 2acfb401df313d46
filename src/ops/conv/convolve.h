// Convolution as three bilinear ops; the derivatives of each are the other two. Also the convolution of
// integers.
#pragma once

#include <ebb/autograd/variable.h>

#include "ops/conv/kernels.h"

namespace ebb::ops {

enum class ConvKind : std::uint8_t { forward, input, weight };

/// The properties of a layer that its derivatives share.
struct Convolution {
  ConvGeometry geometry;
  int dims = 2;                                    // spatial axes
  MemoryFormat format = MemoryFormat::Contiguous;  // the format of results with the shape of in or out
  MemoryFormat weight_format =
      MemoryFormat::Contiguous;  // the format of results with the shape of the weight
};

/// Runs one of three ops. forward: (in, weight) -> out. input: (out, weight) -> in. weight: (out, in) ->
/// weight. `bias` may be undefined and must be undefined for ConvKind::weight. If `relu` (only for forward),
/// relu is applied to the result. As in torch, the node is ConvolutionBackward0 if `is_layer`. For gradients
/// (`is_layer` is false) it is ConvolutionBackwardBackward0.
Variable convolve(ConvKind kind, const Variable& first, const Variable& second, const Variable& bias,
                  const Convolution& convolution, bool is_layer, bool relu = false);

/// Convolves integers over the last `dims` axes of g; with ConvKind::input computes the transpose of the
/// convolution. Sums wrap on overflow. The result is not differentiable.
Variable convolve_integers(ConvKind kind, const Variable& x, const Variable& weight, const ConvGeometry& g,
                           int dims);

}  // namespace ebb::ops
