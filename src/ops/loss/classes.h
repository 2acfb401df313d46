// What the losses over classes share.
#pragma once

#include <ebb/autograd/record.h>

#include "ops/loss/loss.h"

#include <memory>

namespace ebb::ops {

struct ClassProblem {
  kernels::ClassTargets to;
  DimVector out_sizes;  // of the unreduced loss
};

/// Checks the shapes; scores of (C), (N, C) or (N, C, ...) become (batch, classes, places).
ClassProblem class_problem(const char* op, const Variable& x, const Variable& target,
                           const optional<Variable>& weight, std::int64_t reduction,
                           std::int64_t ignore_index);
/// Of that shape, or of no dimensions, uninitialised.
NdArray class_loss_array(const ClassProblem& p, const Variable& x);

struct NllState {
  ClassProblem problem;
  NdArray total;  // of the weights used; the gradient's divisor
  DimVector sizes;
};

/// The gradient of nll_loss with respect to its scores, differentiable.
Variable nll_backward(const Variable& grad, const std::shared_ptr<const NllState>& state);
Variable nll(const char* op, const Variable& x, const Variable& target, const optional<Variable>& weight,
             std::int64_t reduction, std::int64_t ignore_index);

}  // namespace ebb::ops
