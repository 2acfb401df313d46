// RMSprop: divides each step by the root of the mean squared gradient.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/optim/optimizer.h>

namespace ebb::optim {

/// Options of RMSprop. weight_decay is L2 regularization, added to the gradient. centered divides by the
/// standard deviation instead of the root mean square.
class EBB_API RMSpropOptions : public RuleOptions<RMSpropOptions> {
 public:
  RMSpropOptions(double lr = 1e-2) : lr_(lr) {}

  EBB_ARG(double, lr) = 1e-2;         ///< step size
  EBB_ARG(double, alpha) = 0.99;      ///< coefficient of the running average
  EBB_ARG(double, eps) = 1e-8;        ///< added to the denominator
  EBB_ARG(double, weight_decay) = 0;  ///< L2 regularization
  EBB_ARG(double, momentum) = 0;      ///< decay of the velocity
  EBB_ARG(bool, centered) = false;    ///< divides by the standard deviation
  EBB_ARG(bool, maximize) = false;    ///< maximizes: negates the gradient
};
extern template class OptimizerCloneableOptions<RMSpropOptions>;
extern template class RuleOptions<RMSpropOptions>;

/// State of RMSprop for one parameter: mean square, mean and velocity of the gradient.
class EBB_API RMSpropParamState : public RuleParamState<RMSpropParamState, RMSpropOptions> {
  EBB_ARG(std::int64_t, step) = 0;     ///< updates so far
  EBB_ARG(Variable, square_avg);       ///< mean square
  EBB_ARG(Variable, momentum_buffer);  ///< velocity
  EBB_ARG(Variable, grad_avg);         ///< mean gradient
};
extern template class OptimizerCloneableParamState<RMSpropParamState>;
extern template class RuleParamState<RMSpropParamState, RMSpropOptions>;
extern template class RuleOptimizer<RMSpropOptions, RMSpropParamState>;

/// RMSprop (Hinton 2012): v = alpha * v + (1 - alpha) * g^2; p -= lr * g / (sqrt(v) + eps). With momentum,
/// the velocity accumulates these steps.
class EBB_API RMSprop : public RuleOptimizer<RMSpropOptions, RMSpropParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace ebb::optim
