// Derivatives of the normalizations, composed of differentiable ops, for double backward.
#pragma once

#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/norm/kernels.h"

namespace ebb::ops {

/// Normalized values, (x - mean over `dims`) / sqrt(var + eps), recomputed from x so that they are
/// differentiable. If not about_mean, the mean is 0.
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

/// Returns Double for Double, else Float.
inline DType statistics_dtype(DType dtype) { return dtype == kDouble ? kDouble : kFloat; }

inline void check_channel_values(const char* op, const char* name, const Variable& values,
                                 std::int64_t channels, bool vector = true) {
  EBB_CHECK(!values.defined() || values.numel() == channels, op, ": ", name, " should contain ", channels,
            " elements not ", values.numel(), ", one for each channel.");
  EBB_CHECK(!values.defined() || !vector || values.dim() == 1, op, ": expected ", name,
            " to be a vector, one number for each channel, got ", values.sizes(), ". Use .flatten().");
}

}  // namespace ebb::ops
