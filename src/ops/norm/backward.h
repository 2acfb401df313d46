// The derivative of normalisation by differentiable ops: what gradients of gradients use.
#pragma once

#include <ebb/ops/elementwise.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/norm/kernels.h"

namespace ebb::ops {

/// x - mean over `dims`, times 1 / sqrt(var + eps), recomputed from x so that it can be differentiated; about
/// 0, without the mean.
struct Normalised {
  Variable values, rstd;
  bool about_mean;
  Normalised(const Variable& x, IntArrayRef dims, double eps, bool about_mean_ = true)
      : about_mean(about_mean_) {
    const Variable from = about_mean ? x - x.mean(dims, true) : x;
    rstd = ((from * from).mean(dims, true) + eps).rsqrt();
    values = from * rstd;
  }
  /// The gradient of x, given that of the values.
  Variable backward(const Variable& grad, IntArrayRef dims) const {
    const Variable along = grad - values * (grad * values).mean(dims, true);
    return rstd * (about_mean ? along - grad.mean(dims, true) : along);
  }
};

/// Double for Double, else Float.
inline DType statistics_dtype(DType dtype) { return dtype == kDouble ? kDouble : kFloat; }

inline void check_channel_values(const char* op, const char* name, const Variable& values,
                                 std::int64_t channels, bool vector = true) {
  EBB_CHECK(!values.defined() || values.numel() == channels, op, ": ", name, " should contain ", channels,
            " elements not ", values.numel(), ", one for each channel.");
  EBB_CHECK(!values.defined() || !vector || values.dim() == 1, op, ": expected ", name,
            " to be a vector, one number for each channel, got ", values.sizes(), ". Use .flatten().");
}

}  // namespace ebb::ops
