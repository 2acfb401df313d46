// Helpers of the losses: checks, reductions, nll_loss, and fused l1_loss and kl_div.
#pragma once

#include <ebb/autograd/record.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/loss.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "ops/loss/kernels.h"

#include <memory>

namespace ebb::ops {

inline void check_reduction(const char* op, std::int64_t reduction) {
  EBB_CHECK(reduction >= Reduction::None && reduction < Reduction::END, op, ": ", reduction,
            " is not a reduction. Use Reduction::None, Mean or Sum.");
}

/// Throws if a gradient is required for an argument for which the loss has none.
inline void check_no_gradient(const char* op, const char* argument, const Variable& x) {
  EBB_CHECK(!autograd::records(x), op, ": The function is not differentiable with respect to argument '",
            argument, "'. This input cannot have requires_grad true. detach() it.");
}

// l1_loss and kl_div as fused kernels, which are used on devices. On the CPU they are composed of other ops
// as in torch, so that their graphs equal torch's.
Variable fused_l1_loss(const Variable& self, const Variable& target, std::int64_t reduction);
Variable fused_kl_div(const Variable& self, const Variable& target, std::int64_t reduction, bool log_target);

/// Returns whether a fused kernel computes l1_loss or kl_div.
inline bool on_device(const Variable& self, const Variable& target) {
  return !self.is_cpu() && is_floating(promote_types(self.dtype(), target.dtype()));
}

/// Returns the mean or sum of the values, or the values themselves.
inline Variable reduce_loss(const Variable& values, std::int64_t reduction) {
  return reduction == Reduction::Mean ? values.mean() : reduction == Reduction::Sum ? values.sum() : values;
}

struct ClassProblem {
  kernels::ClassTargets to;
  DimVector out_sizes;  // the sizes of the unreduced loss
};

/// Checks the shapes. Scores of shape (C), (N, C) or (N, C, ...) become (batch, classes, places), where
/// places are the spatial positions.
ClassProblem class_problem(const char* op, const Variable& x, const Variable& target,
                           const optional<Variable>& weight, std::int64_t reduction,
                           std::int64_t ignore_index);
/// Returns an uninitialized array for the loss. It has the shape out_sizes, or no dimensions if the loss is
/// reduced.
NdArray class_loss_array(const ClassProblem& p, const Variable& x);

struct NllState {
  ClassProblem problem;
  NdArray total;  // the sum of the used weights, by which the gradient is divided
  DimVector sizes;
};

/// Returns the gradient of nll_loss with respect to the scores. The gradient is differentiable.
Variable nll_backward(const Variable& grad, const std::shared_ptr<const NllState>& state);
Variable nll(const char* op, const Variable& x, const Variable& target, const optional<Variable>& weight,
             std::int64_t reduction, std::int64_t ignore_index);

}  // namespace ebb::ops
