// Lion: steps along the sign of an averaged gradient.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/optim/optimizer.h>

#include <tuple>

namespace ebb::optim {

/// Options of Lion. weight_decay is decoupled: it shrinks the parameter itself.
class EBB_API LionOptions : public RuleOptions<LionOptions> {
 public:
  using betas_t = std::tuple<double, double>;
  LionOptions(double lr = 1e-4) : lr_(lr) {}

  EBB_ARG(double, lr) = 1e-4;               ///< step size
  EBB_ARG(betas_t, betas) = { 0.9, 0.99 };  ///< coefficients of the update and of the running average
  EBB_ARG(double, weight_decay) = 0;        ///< decoupled decay: p *= 1 - lr * weight_decay
};
extern template class OptimizerCloneableOptions<LionOptions>;
extern template class RuleOptions<LionOptions>;

/// State of Lion for one parameter: the running average of the gradient.
class EBB_API LionParamState : public RuleParamState<LionParamState, LionOptions> {
  EBB_ARG(std::int64_t, step) = 0;  ///< updates so far
  EBB_ARG(Variable, exp_avg);       ///< running average of the gradient
};
extern template class OptimizerCloneableParamState<LionParamState>;
extern template class RuleParamState<LionParamState, LionOptions>;
extern template class RuleOptimizer<LionOptions, LionParamState>;

/// Lion, EvoLved Sign Momentum (Chen et al. 2023): p *= 1 - lr * weight_decay; p -= lr * sign(b1 * m + (1 -
/// b1) * g); m = b2 * m + (1 - b2) * g.
class EBB_API Lion : public RuleOptimizer<LionOptions, LionParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace ebb::optim
