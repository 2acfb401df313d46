// Adam and AdamW.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/optim/optimizer.h>

#include <tuple>

namespace ebb::optim {

/// weight_decay is added to the gradient, unless decoupled.
class EBB_API AdamOptions : public RuleOptions<AdamOptions> {
 public:
  using betas_t = std::tuple<double, double>;
  AdamOptions(double lr = 1e-3) : lr_(lr) {}

  EBB_ARG(double, lr) = 1e-3;              ///< step size
  EBB_ARG(betas_t, betas) = {0.9, 0.999};  ///< shares of the moments that are kept
  EBB_ARG(double, eps) = 1e-8;             ///< added to the divisor
  EBB_ARG(double, weight_decay) = 0;       ///< factor of the parameter that is added to its gradient
  EBB_ARG(bool, amsgrad) = false;          ///< divides by the largest second moment so far
  /// Keeps an f32 copy of every f16 or bf16 parameter, and its moments in f32: updates too small for 16 bits
  /// add up. The parameter is the copy's rounded value; where something else has written to it, the copy
  /// starts again from it. (Micikevicius et al. 2018; FusedAdam of NVIDIA's Apex.)
  EBB_ARG(bool, master_weights) = false;
  EBB_ARG(bool, maximize) = false;                ///< climbs: takes the negative of the gradient
  EBB_ARG(bool, decoupled_weight_decay) = false;  ///< the decay shrinks the parameter itself, as AdamW's does
};
extern template class OptimizerCloneableOptions<AdamOptions>;
extern template class RuleOptions<AdamOptions>;

/// weight_decay shrinks the parameter itself.
class EBB_API AdamWOptions : public RuleOptions<AdamWOptions> {
 public:
  using betas_t = std::tuple<double, double>;
  AdamWOptions(double lr = 1e-3) : lr_(lr) {}

  EBB_ARG(double, lr) = 1e-3;              ///< step size
  EBB_ARG(betas_t, betas) = {0.9, 0.999};  ///< shares of the moments that are kept
  EBB_ARG(double, eps) = 1e-8;             ///< added to the divisor
  EBB_ARG(double, weight_decay) = 1e-2;    ///< share of the parameter that a step of size 1 takes away
  EBB_ARG(bool, amsgrad) = false;          ///< divides by the largest second moment so far
  /// Keeps an f32 copy of every f16 or bf16 parameter, and its moments in f32: updates too small for 16 bits
  /// add up. The parameter is the copy's rounded value; where something else has written to it, the copy
  /// starts again from it. (Micikevicius et al. 2018; FusedAdam of NVIDIA's Apex.)
  EBB_ARG(bool, master_weights) = false;
  EBB_ARG(bool, maximize) = false;  ///< climbs: takes the negative of the gradient
};
extern template class OptimizerCloneableOptions<AdamWOptions>;
extern template class RuleOptions<AdamWOptions>;

/// The moments.
class EBB_API AdamParamState : public RuleParamState<AdamParamState, AdamOptions> {
  EBB_ARG(std::int64_t, step) = 0;    ///< updates so far
  EBB_ARG(Variable, exp_avg);         ///< mean gradient
  EBB_ARG(Variable, exp_avg_sq);      ///< mean square
  EBB_ARG(Variable, max_exp_avg_sq);  ///< largest mean square
  EBB_ARG(Variable, master);          ///< the parameter in f32, with master_weights
};
extern template class OptimizerCloneableParamState<AdamParamState>;
extern template class RuleParamState<AdamParamState, AdamOptions>;
extern template class RuleOptimizer<AdamOptions, AdamParamState>;

/// The moments.
class EBB_API AdamWParamState : public RuleParamState<AdamWParamState, AdamWOptions> {
  EBB_ARG(std::int64_t, step) = 0;    ///< updates so far
  EBB_ARG(Variable, exp_avg);         ///< mean gradient
  EBB_ARG(Variable, exp_avg_sq);      ///< mean square
  EBB_ARG(Variable, max_exp_avg_sq);  ///< largest mean square
  EBB_ARG(Variable, master);          ///< the parameter in f32, with master_weights
};
extern template class OptimizerCloneableParamState<AdamWParamState>;
extern template class RuleParamState<AdamWParamState, AdamWOptions>;
extern template class RuleOptimizer<AdamWOptions, AdamWParamState>;

/// Kingma & Ba 2015: m = b1 m + (1 - b1) g; v = b2 v + (1 - b2) g^2;
/// p -= lr / (1 - b1^t) m / (sqrt(v) / sqrt(1 - b2^t) + eps). amsgrad uses the largest v so far (Reddi et al.
/// 2018).
class EBB_API Adam : public RuleOptimizer<AdamOptions, AdamParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

/// Loshchilov & Hutter 2019: p *= 1 - lr weight_decay, then Adam.
class EBB_API AdamW : public RuleOptimizer<AdamWOptions, AdamWParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace ebb::optim
