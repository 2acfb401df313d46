// Stochastic gradient descent.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/optim/optimizer.h>

namespace ebb::optim {

/// Nesterov momentum needs momentum > 0 and dampening 0.
class EBB_API SGDOptions : public RuleOptions<SGDOptions> {
 public:
  SGDOptions(double lr = 1e-3) : lr_(lr) {}

  EBB_ARG(double, lr) = 1e-3;         ///< step size
  EBB_ARG(double, momentum) = 0;      ///< share of the velocity that is kept
  EBB_ARG(double, dampening) = 0;     ///< share of the gradient that the velocity does not take
  EBB_ARG(double, weight_decay) = 0;  ///< factor of the parameter that is added to its gradient
  EBB_ARG(bool, nesterov) = false;    ///< looks ahead by the velocity
  EBB_ARG(bool, maximize) = false;    ///< climbs: takes the negative of the gradient
};
extern template class OptimizerCloneableOptions<SGDOptions>;
extern template class RuleOptions<SGDOptions>;

/// The velocity.
class EBB_API SGDParamState : public RuleParamState<SGDParamState, SGDOptions> {
  EBB_ARG(Variable, momentum_buffer);  ///< velocity
};
extern template class OptimizerCloneableParamState<SGDParamState>;
extern template class RuleParamState<SGDParamState, SGDOptions>;
extern template class RuleOptimizer<SGDOptions, SGDParamState>;

/// g += weight_decay p; v = momentum v + (1 - dampening) g (v = g at first); p -= lr v, or lr (g + momentum
/// v) with nesterov.
class EBB_API SGD : public RuleOptimizer<SGDOptions, SGDParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace ebb::optim
