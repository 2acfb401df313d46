// What layer norm, RMS norm and their forms with a residual share: the norm of a tensor's last dimensions.
#pragma once

#include "ops/norm/backward.h"

#include <array>

namespace ebb::ops {

/// Sizes of the norm over trailing dimensions, and of its statistics.
struct TrailingShape {
  kernels::NormShape shape;
  DimVector statistics;

  /// Throws unless the arguments fit together.
  TrailingShape(const char* op, const Variable& input, IntArrayRef normalized_shape, const Variable& weight,
                const Variable& bias, bool centred);
};

/// The gradients of input, weight and bias by differentiable ops, where wanted; those of weight and bias are
/// reduced to their shapes by the engine.
std::array<Variable, 3> trailing_norm_backward(const Variable& input, const Variable& weight,
                                               const Variable& grad, std::size_t dims, double eps,
                                               bool centred, std::array<bool, 3> wanted);

/// The eps of rms_norm: as given, or the distance of 1 to the dtype's next number. Throws unless floating.
double rms_epsilon(const char* op, const Variable& input, optional<double> eps);

}  // namespace ebb::ops
