// SGD: stochastic gradient descent.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/optim/optimizer.h>

namespace ebb::optim {

/// Options of SGD. weight_decay is L2 regularization, added to the gradient. Nesterov momentum needs momentum
/// > 0 and dampening 0.
class EBB_API SGDOptions : public RuleOptions<SGDOptions> {
 public:
  SGDOptions(double lr = 1e-3) : lr_(lr) {}

  EBB_ARG(double, lr) = 1e-3;         ///< step size
  EBB_ARG(double, momentum) = 0;      ///< decay of the velocity
  EBB_ARG(double, dampening) = 0;     ///< the velocity adds (1 - dampening) times the gradient
  EBB_ARG(double, weight_decay) = 0;  ///< L2 regularization
  EBB_ARG(bool, nesterov) = false;    ///< Nesterov momentum
  EBB_ARG(bool, maximize) = false;    ///< maximizes: negates the gradient
};
extern template class OptimizerCloneableOptions<SGDOptions>;
extern template class RuleOptions<SGDOptions>;

/// State of SGD for one parameter: its velocity.
class EBB_API SGDParamState : public RuleParamState<SGDParamState, SGDOptions> {
  EBB_ARG(Variable, momentum_buffer);  ///< velocity
};
extern template class OptimizerCloneableParamState<SGDParamState>;
extern template class RuleParamState<SGDParamState, SGDOptions>;
extern template class RuleOptimizer<SGDOptions, SGDParamState>;

/// SGD: g += weight_decay * p; v = momentum * v + (1 - dampening) * g (v = g in the first step); p -= lr * v,
/// or with nesterov p -= lr * (g + momentum * v).
class EBB_API SGD : public RuleOptimizer<SGDOptions, SGDParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace ebb::optim
