// ASGD: averaged stochastic gradient descent.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/optim/optimizer.h>

namespace ebb::optim {

/// Options of ASGD. weight_decay is L2 regularization, added to the gradient.
class EBB_API ASGDOptions : public RuleOptions<ASGDOptions> {
 public:
  ASGDOptions(double lr = 1e-2) : lr_(lr) {}

  EBB_ARG(double, lr) = 1e-2;         ///< step size
  EBB_ARG(double, lambd) = 1e-4;      ///< decay of the parameter, and of the step size
  EBB_ARG(double, alpha) = 0.75;      ///< exponent of the decrease of the step size
  EBB_ARG(double, t0) = 1e6;          ///< step after which the averaging begins
  EBB_ARG(double, weight_decay) = 0;  ///< L2 regularization
  EBB_ARG(bool, maximize) = false;    ///< maximizes: negates the gradient
};
extern template class OptimizerCloneableOptions<ASGDOptions>;
extern template class RuleOptions<ASGDOptions>;

/// State of ASGD for one parameter: the average of its values, and the coefficients of the next step.
class EBB_API ASGDParamState : public RuleParamState<ASGDParamState, ASGDOptions> {
  EBB_ARG(std::int64_t, step) = 0;  ///< updates so far
  EBB_ARG(double, eta) = 0;         ///< step size of the next step
  EBB_ARG(double, mu) = 1;          ///< weight of the next value in the average
  EBB_ARG(Variable, ax);            ///< average of the parameter's values
};
extern template class OptimizerCloneableParamState<ASGDParamState>;
extern template class RuleParamState<ASGDParamState, ASGDOptions>;
extern template class RuleOptimizer<ASGDOptions, ASGDParamState>;

/// ASGD (Polyak & Juditsky 1992; torch.optim.ASGD): p = (1 - lambd * eta) * p - eta * g. The state contains
/// `ax`, the average of p after step t0. eta is initially lr, then lr / (1 + lambd * lr * t)^alpha.
class EBB_API ASGD : public RuleOptimizer<ASGDOptions, ASGDParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace ebb::optim
