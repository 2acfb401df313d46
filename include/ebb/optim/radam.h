// RAdam: Adam with rectified first steps.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/optim/optimizer.h>

#include <tuple>

namespace ebb::optim {

/// Options of RAdam. weight_decay is L2 regularization, added to the gradient, unless decoupled.
class EBB_API RAdamOptions : public RuleOptions<RAdamOptions> {
 public:
  using betas_t = std::tuple<double, double>;
  RAdamOptions(double lr = 1e-3) : lr_(lr) {}

  EBB_ARG(double, lr) = 1e-3;                     ///< step size
  EBB_ARG(betas_t, betas) = { 0.9, 0.999 };       ///< coefficients of the running averages
  EBB_ARG(double, eps) = 1e-8;                    ///< added to the denominator
  EBB_ARG(double, weight_decay) = 0;              ///< L2 regularization
  EBB_ARG(bool, decoupled_weight_decay) = false;  ///< weight_decay shrinks the parameter itself, as in AdamW
  EBB_ARG(bool, maximize) = false;                ///< maximizes: negates the gradient
};
extern template class OptimizerCloneableOptions<RAdamOptions>;
extern template class RuleOptions<RAdamOptions>;

/// State of RAdam for one parameter: first and second moment of the gradient.
class EBB_API RAdamParamState : public RuleParamState<RAdamParamState, RAdamOptions> {
  EBB_ARG(std::int64_t, step) = 0;  ///< updates so far
  EBB_ARG(Variable, exp_avg);       ///< first moment: mean gradient
  EBB_ARG(Variable, exp_avg_sq);    ///< second moment: mean square
};
extern template class OptimizerCloneableParamState<RAdamParamState>;
extern template class RuleParamState<RAdamParamState, RAdamOptions>;
extern template class RuleOptimizer<RAdamOptions, RAdamParamState>;

/// RAdam (Liu et al. 2020; torch.optim.RAdam): r = R - 2 t b2^t / (1 - b2^t) with R = 2 / (1 - b2) - 1. If r
/// <= 5 the step is lr m / (1 - b1^t), and otherwise Adam's step times sqrt((r - 4)(r - 2) R / ((R - 4)(R -
/// 2) r)).
class EBB_API RAdam : public RuleOptimizer<RAdamOptions, RAdamParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace ebb::optim
