// Helpers of the normalization ops: recomputation with differentiable ops, norms over trailing dimensions,
// and eps.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/norm/kernels.h"

#include <array>

namespace ebb::ops {

/// Returns whether a 16-bit input has a weight or a bias in Float. The norm is then computed in Float, and
/// the result has the dtype of the input.
inline bool is_mixed(const Variable& input, const Variable& weight, const Variable& bias) {
  const auto is_float = [](const Variable& x) { return x.defined() && x.dtype() == kFloat; };
  return (input.dtype() == kHalf || input.dtype() == kBFloat16) && (is_float(weight) || is_float(bias));
}

/// Normalized values, (x - mean over `dims`) / sqrt(var + eps), recomputed from x so that they are
/// differentiable. If about_mean is false, 0 replaces the mean.
struct Normalised {
  Variable values, rstd;
  bool about_mean;
  Normalised(const Variable& x, IntArrayRef dims, double eps, bool about_mean_ = true)
      : about_mean(about_mean_) {
    const Variable from = about_mean ? x - x.mean(dims, true) : x;
    rstd = ((from * from).mean(dims, true) + eps).rsqrt();
    values = from * rstd;
  }
  /// Returns the gradient of x, given the gradient of the values.
  Variable backward(const Variable& grad, IntArrayRef dims) const {
    const Variable along = grad - values * (grad * values).mean(dims, true);
    return rstd * (about_mean ? along - grad.mean(dims, true) : along);
  }
};

/// Returns Double for Double, otherwise Float.
inline DType statistics_dtype(DType dtype) { return dtype == kDouble ? kDouble : kFloat; }

inline void check_channel_values(const char* op, const char* name, const Variable& values,
                                 std::int64_t channels, bool vector = true) {
  EBB_CHECK(!values.defined() || values.numel() == channels, op, ": ", name, " should contain ", channels,
            " elements not ", values.numel(), ", one for each channel.");
  EBB_CHECK(!values.defined() || !vector || values.dim() == 1, op, ": expected ", name,
            " to be a vector, one number for each channel, got ", values.sizes(), ". Use .flatten().");
}

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

/// Returns the eps of rms_norm: the given one, or the machine epsilon of the dtype. Throws unless the dtype
/// is floating-point.
double rms_epsilon(const char* op, const Variable& input, optional<double> eps);

}  // namespace ebb::ops
