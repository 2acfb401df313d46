// NAdam: Adam with Nesterov momentum.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/optim/optimizer.h>

#include <tuple>

namespace ebb::optim {

/// Options of NAdam. weight_decay is L2 regularization, added to the gradient, unless decoupled. The momentum
/// of step t is beta1 (1 - 0.96^(t momentum_decay) / 2).
class EBB_API NAdamOptions : public RuleOptions<NAdamOptions> {
 public:
  using betas_t = std::tuple<double, double>;
  NAdamOptions(double lr = 2e-3) : lr_(lr) {}

  EBB_ARG(double, lr) = 2e-3;                     ///< step size
  EBB_ARG(betas_t, betas) = { 0.9, 0.999 };       ///< coefficients of the running averages
  EBB_ARG(double, eps) = 1e-8;                    ///< added to the denominator
  EBB_ARG(double, weight_decay) = 0;              ///< L2 regularization
  EBB_ARG(double, momentum_decay) = 4e-3;         ///< rate at which the momentum grows
  EBB_ARG(bool, decoupled_weight_decay) = false;  ///< weight_decay shrinks the parameter itself, as in AdamW
  EBB_ARG(bool, maximize) = false;                ///< maximizes: negates the gradient
};
extern template class OptimizerCloneableOptions<NAdamOptions>;
extern template class RuleOptions<NAdamOptions>;

/// State of NAdam for one parameter: first and second moment of the gradient.
class EBB_API NAdamParamState : public RuleParamState<NAdamParamState, NAdamOptions> {
  EBB_ARG(std::int64_t, step) = 0;  ///< updates so far
  EBB_ARG(double, mu_product) = 1;  ///< product of the momentum coefficients so far
  EBB_ARG(Variable, exp_avg);       ///< first moment: mean gradient
  EBB_ARG(Variable, exp_avg_sq);    ///< second moment: mean square
};
extern template class OptimizerCloneableParamState<NAdamParamState>;
extern template class RuleParamState<NAdamParamState, NAdamOptions>;
extern template class RuleOptimizer<NAdamOptions, NAdamParamState>;

/// NAdam (Dozat 2016; torch.optim.NAdam), with m and v as in Adam and d = sqrt(v / (1 - b2^t)) + eps: p -= lr
/// ((1 - mu_t) / (1 - M_t) g + mu_{t+1} / (1 - M_{t+1}) m) / d. mu_t is the momentum of step t, and M_t is
/// the product of mu_1, ..., mu_t.
class EBB_API NAdam : public RuleOptimizer<NAdamOptions, NAdamParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace ebb::optim
