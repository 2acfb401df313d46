// Adadelta: steps from running averages of squared gradients and squared steps.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/optim/optimizer.h>

namespace ebb::optim {

/// Options of Adadelta. weight_decay is L2 regularization, added to the gradient.
class EBB_API AdadeltaOptions : public RuleOptions<AdadeltaOptions> {
 public:
  AdadeltaOptions(double lr = 1.0) : lr_(lr) {}

  EBB_ARG(double, lr) = 1.0;          ///< step size
  EBB_ARG(double, rho) = 0.9;         ///< decay of the mean squares
  EBB_ARG(double, eps) = 1e-6;        ///< added under the roots
  EBB_ARG(double, weight_decay) = 0;  ///< L2 regularization
  EBB_ARG(bool, maximize) = false;    ///< maximizes: negates the gradient
};
extern template class OptimizerCloneableOptions<AdadeltaOptions>;
extern template class RuleOptions<AdadeltaOptions>;

/// State of Adadelta for one parameter: mean squares of gradients and of steps.
class EBB_API AdadeltaParamState : public RuleParamState<AdadeltaParamState, AdadeltaOptions> {
  EBB_ARG(std::int64_t, step) = 0;  ///< updates so far
  EBB_ARG(Variable, square_avg);    ///< mean square of the gradients
  EBB_ARG(Variable, acc_delta);     ///< mean square of the steps
};
extern template class OptimizerCloneableParamState<AdadeltaParamState>;
extern template class RuleParamState<AdadeltaParamState, AdadeltaOptions>;
extern template class RuleOptimizer<AdadeltaOptions, AdadeltaParamState>;

/// Adadelta (Zeiler 2012; torch.optim.Adadelta): v = rho * v + (1 - rho) * g^2; d = sqrt(u + eps) / sqrt(v +
/// eps) * g; u = rho * u + (1 - rho) * d^2; p -= lr * d.
class EBB_API Adadelta : public RuleOptimizer<AdadeltaOptions, AdadeltaParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace ebb::optim
