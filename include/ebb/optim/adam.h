// Adam and AdamW: steps from the first and second moments of the gradient.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/optim/optimizer.h>

#include <tuple>

namespace ebb::optim {

/// Options of Adam. weight_decay is L2 regularization, added to the gradient, unless decoupled.
class EBB_API AdamOptions : public RuleOptions<AdamOptions> {
 public:
  using betas_t = std::tuple<double, double>;
  AdamOptions(double lr = 1e-3) : lr_(lr) {}

  EBB_ARG(double, lr) = 1e-3;                ///< step size
  EBB_ARG(betas_t, betas) = { 0.9, 0.999 };  ///< coefficients of the running averages
  EBB_ARG(double, eps) = 1e-8;               ///< added to the denominator
  EBB_ARG(double, weight_decay) = 0;         ///< L2 regularization
  EBB_ARG(bool, amsgrad) = false;            ///< divides by the largest second moment so far
  /// Keeps an f32 copy of each f16 or bf16 parameter, and its moments in f32, so that updates too small for
  /// 16 bits accumulate. The parameter is the rounded copy. If other code writes to the parameter, the copy
  /// takes the new value. (Micikevicius et al. 2018; FusedAdam of NVIDIA's Apex.)
  EBB_ARG(bool, master_weights) = false;
  EBB_ARG(bool, maximize) = false;                ///< maximizes: negates the gradient
  EBB_ARG(bool, decoupled_weight_decay) = false;  ///< weight_decay shrinks the parameter itself, as in AdamW
};
extern template class OptimizerCloneableOptions<AdamOptions>;
extern template class RuleOptions<AdamOptions>;

/// Options of AdamW. weight_decay is decoupled: it shrinks the parameter itself.
class EBB_API AdamWOptions : public RuleOptions<AdamWOptions> {
 public:
  using betas_t = std::tuple<double, double>;
  AdamWOptions(double lr = 1e-3) : lr_(lr) {}

  EBB_ARG(double, lr) = 1e-3;                ///< step size
  EBB_ARG(betas_t, betas) = { 0.9, 0.999 };  ///< coefficients of the running averages
  EBB_ARG(double, eps) = 1e-8;               ///< added to the denominator
  EBB_ARG(double, weight_decay) = 1e-2;      ///< decoupled decay: p *= 1 - lr * weight_decay
  EBB_ARG(bool, amsgrad) = false;            ///< divides by the largest second moment so far
  /// Keeps an f32 copy of each f16 or bf16 parameter, and its moments in f32, so that updates too small for
  /// 16 bits accumulate. The parameter is the rounded copy. If other code writes to the parameter, the copy
  /// takes the new value. (Micikevicius et al. 2018; FusedAdam of NVIDIA's Apex.)
  EBB_ARG(bool, master_weights) = false;
  EBB_ARG(bool, maximize) = false;  ///< maximizes: negates the gradient
};
extern template class OptimizerCloneableOptions<AdamWOptions>;
extern template class RuleOptions<AdamWOptions>;

/// State of Adam for one parameter: first and second moment of the gradient.
class EBB_API AdamParamState : public RuleParamState<AdamParamState, AdamOptions> {
  EBB_ARG(std::int64_t, step) = 0;    ///< updates so far
  EBB_ARG(Variable, exp_avg);         ///< first moment: mean gradient
  EBB_ARG(Variable, exp_avg_sq);      ///< second moment: mean square
  EBB_ARG(Variable, max_exp_avg_sq);  ///< largest second moment so far, with amsgrad
  EBB_ARG(Variable, master);          ///< the parameter in f32, with master_weights
};
extern template class OptimizerCloneableParamState<AdamParamState>;
extern template class RuleParamState<AdamParamState, AdamOptions>;
extern template class RuleOptimizer<AdamOptions, AdamParamState>;

/// State of AdamW for one parameter: first and second moment of the gradient.
class EBB_API AdamWParamState : public RuleParamState<AdamWParamState, AdamWOptions> {
  EBB_ARG(std::int64_t, step) = 0;    ///< updates so far
  EBB_ARG(Variable, exp_avg);         ///< first moment: mean gradient
  EBB_ARG(Variable, exp_avg_sq);      ///< second moment: mean square
  EBB_ARG(Variable, max_exp_avg_sq);  ///< largest second moment so far, with amsgrad
  EBB_ARG(Variable, master);          ///< the parameter in f32, with master_weights
};
extern template class OptimizerCloneableParamState<AdamWParamState>;
extern template class RuleParamState<AdamWParamState, AdamWOptions>;
extern template class RuleOptimizer<AdamWOptions, AdamWParamState>;

/// Adam (Kingma & Ba 2015): m = b1 * m + (1 - b1) * g; v = b2 * v + (1 - b2) * g^2; p -= lr / (1 - b1^t) * m
/// / (sqrt(v) / sqrt(1 - b2^t) + eps). amsgrad uses the largest v so far (Reddi et al. 2018).
class EBB_API Adam : public RuleOptimizer<AdamOptions, AdamParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

/// AdamW (Loshchilov & Hutter 2019): p *= 1 - lr * weight_decay, then the step of Adam.
class EBB_API AdamW : public RuleOptimizer<AdamWOptions, AdamWParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace ebb::optim
