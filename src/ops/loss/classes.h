// Helpers that the classification losses share.
#pragma once

#include <ebb/autograd/record.h>

#include "ops/loss/loss.h"

#include <memory>

namespace ebb::ops {

struct ClassProblem {
  kernels::ClassTargets to;
  DimVector out_sizes;  // the sizes of the unreduced loss
};

/// Checks the shapes. Scores of shape (C), (N, C) or (N, C, ...) become (batch, classes, places), where
/// places are the spatial positions.
ClassProblem class_problem(const char* op, const Variable& x, const Variable& target,
                           const optional<Variable>& weight, std::int64_t reduction,
                           std::int64_t ignore_index);
/// Returns an uninitialized array for the loss: of out_sizes, or 0-d if it is reduced.
NdArray class_loss_array(const ClassProblem& p, const Variable& x);

struct NllState {
  ClassProblem problem;
  NdArray total;  // the sum of the used weights, the divisor of the gradient
  DimVector sizes;
};

/// Returns the gradient of nll_loss with respect to its scores. It is differentiable.
Variable nll_backward(const Variable& grad, const std::shared_ptr<const NllState>& state);
Variable nll(const char* op, const Variable& x, const Variable& target, const optional<Variable>& weight,
             std::int64_t reduction, std::int64_t ignore_index);

}  // namespace ebb::ops
