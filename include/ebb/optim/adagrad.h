// Adagrad: divides each step by the root of the summed squared gradients.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/optim/optimizer.h>

namespace ebb::optim {

/// Options of Adagrad. weight_decay is L2 regularization, added to the gradient.
class EBB_API AdagradOptions : public RuleOptions<AdagradOptions> {
 public:
  AdagradOptions(double lr = 1e-2) : lr_(lr) {}

  EBB_ARG(double, lr) = 1e-2;                      ///< step size
  EBB_ARG(double, lr_decay) = 0;                   ///< the step size at step t is lr / (1 + (t - 1) lr_decay)
  EBB_ARG(double, weight_decay) = 0;               ///< L2 regularization
  EBB_ARG(double, initial_accumulator_value) = 0;  ///< initial sum of squares
  EBB_ARG(double, eps) = 1e-10;                    ///< added to the denominator
  EBB_ARG(bool, maximize) = false;                 ///< maximizes: negates the gradient
};
extern template class OptimizerCloneableOptions<AdagradOptions>;
extern template class RuleOptions<AdagradOptions>;

/// State of Adagrad for one parameter: the sum of the squared gradients.
class EBB_API AdagradParamState : public RuleParamState<AdagradParamState, AdagradOptions> {
  EBB_ARG(std::int64_t, step) = 0;  ///< updates so far
  EBB_ARG(Variable, sum);           ///< sum of squares
};
extern template class OptimizerCloneableParamState<AdagradParamState>;
extern template class RuleParamState<AdagradParamState, AdagradOptions>;
extern template class RuleOptimizer<AdagradOptions, AdagradParamState>;

/// Adagrad: s += g^2; p -= lr * g / (sqrt(s) + eps) (Duchi, Hazan & Singer 2011).
class EBB_API Adagrad : public RuleOptimizer<AdagradOptions, AdagradParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace ebb::optim
