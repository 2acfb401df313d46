// Helpers of layer_norm, rms_norm and their residual variants: norms over the last dimensions.
#pragma once

#include "ops/norm/backward.h"

#include <array>

namespace ebb::ops {

/// The sizes of a norm over trailing dimensions, and of its statistics.
struct TrailingShape {
  kernels::NormShape shape;
  DimVector statistics;

  /// Throws unless the arguments match.
  TrailingShape(const char* op, const Variable& input, IntArrayRef normalized_shape, const Variable& weight,
                const Variable& bias, bool centred);
};

/// Returns the gradients of input, weight and bias that `wanted` selects, computed with differentiable ops.
/// The engine reduces the gradients of weight and bias to their shapes.
std::array<Variable, 3> trailing_norm_backward(const Variable& input, const Variable& weight,
                                               const Variable& grad, std::size_t dims, double eps,
                                               bool centred, std::array<bool, 3> wanted);

/// Returns the eps of rms_norm: the given one, or the machine epsilon of the dtype. Throws unless it is
/// floating-point.
double rms_epsilon(const char* op, const Variable& input, optional<double> eps);

}  // namespace ebb::ops
