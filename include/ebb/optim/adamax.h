// Adamax: Adam with the infinity norm of the gradients.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/optim/optimizer.h>

#include <tuple>

namespace ebb::optim {

/// Options of Adamax. weight_decay is L2 regularization, added to the gradient.
class EBB_API AdamaxOptions : public RuleOptions<AdamaxOptions> {
 public:
  using betas_t = std::tuple<double, double>;
  AdamaxOptions(double lr = 2e-3) : lr_(lr) {}

  EBB_ARG(double, lr) = 2e-3;                ///< step size
  EBB_ARG(betas_t, betas) = { 0.9, 0.999 };  ///< coefficients of the running mean and maximum
  EBB_ARG(double, eps) = 1e-8;               ///< added to the absolute gradient
  EBB_ARG(double, weight_decay) = 0;         ///< L2 regularization
  EBB_ARG(bool, maximize) = false;           ///< maximizes: negates the gradient
};
extern template class OptimizerCloneableOptions<AdamaxOptions>;
extern template class RuleOptions<AdamaxOptions>;

/// State of Adamax for one parameter: running mean and maximum of the gradient.
class EBB_API AdamaxParamState : public RuleParamState<AdamaxParamState, AdamaxOptions> {
  EBB_ARG(std::int64_t, step) = 0;  ///< updates so far
  EBB_ARG(Variable, exp_avg);       ///< running mean of the gradient
  EBB_ARG(Variable, exp_inf);       ///< decaying maximum of the absolute gradient
};
extern template class OptimizerCloneableParamState<AdamaxParamState>;
extern template class RuleParamState<AdamaxParamState, AdamaxOptions>;
extern template class RuleOptimizer<AdamaxOptions, AdamaxParamState>;

/// Adamax (Kingma & Ba 2015; torch.optim.Adamax): u = max(b2 * u, |g| + eps); p -= lr / (1 - b1^t) * m / u.
class EBB_API Adamax : public RuleOptimizer<AdamaxOptions, AdamaxParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace ebb::optim
