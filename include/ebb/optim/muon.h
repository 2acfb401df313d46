// Muon: momentum orthogonalized by Newton-Schulz iterations.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/optim/optimizer.h>

#include <string>
#include <tuple>

namespace ebb::optim {

/// Options of Muon. weight_decay is decoupled: it shrinks the parameter itself. adjust_lr_fn selects the
/// factor of the step of an [A, B] matrix. "original" (the default) is sqrt(max(1, A / B)), "match_rms_adamw"
/// is 0.2 sqrt(max(A, B)), and "spectral_unclamped" is sqrt(A / B).
class EBB_API MuonOptions : public RuleOptions<MuonOptions> {
 public:
  using coefficients_t = std::tuple<double, double, double>;
  MuonOptions(double lr = 1e-3) : lr_(lr) {}

  EBB_ARG(double, lr) = 1e-3;           ///< step size
  EBB_ARG(double, weight_decay) = 0.1;  ///< decoupled decay: p *= 1 - lr * weight_decay
  EBB_ARG(double, momentum) = 0.95;     ///< decay of the velocity
  EBB_ARG(bool, nesterov) = true;       ///< Nesterov momentum
  EBB_ARG(coefficients_t, ns_coefficients) = { 3.4445, -4.7750, 2.0315 };  ///< coefficients a, b, c
  EBB_ARG(double, eps) = 1e-7;                        ///< lower bound of the norm that divides the velocity
  EBB_ARG(std::int64_t, ns_steps) = 5;                ///< number of Newton-Schulz iterations
  EBB_ARG(optional<std::string>, adjust_lr_fn) = {};  ///< scaling of the step, see above
};
extern template class OptimizerCloneableOptions<MuonOptions>;
extern template class RuleOptions<MuonOptions>;

/// State of Muon for one parameter: its velocity.
class EBB_API MuonParamState : public RuleParamState<MuonParamState, MuonOptions> {
  EBB_ARG(Variable, momentum_buffer);  ///< velocity
};
extern template class OptimizerCloneableParamState<MuonParamState>;
extern template class RuleParamState<MuonParamState, MuonOptions>;
extern template class RuleOptimizer<MuonOptions, MuonParamState>;

/// Muon (Jordan et al. 2024; torch.optim.Muon), for matrices; use AdamW for the other parameters of a
/// network. v = momentum * v + (1 - momentum) * g. The step is v with its singular values replaced by values
/// close to 1. It is computed by ns_steps iterations X = a X + (b X X^T + c (X X^T)^2) X in bf16. Throws for
/// parameters that are not matrices. A step cannot be captured in a graph.
class EBB_API Muon : public RuleOptimizer<MuonOptions, MuonParamState> {
 public:
  explicit Muon(std::vector<OptimizerParamGroup> param_groups, MuonOptions defaults = {});
  explicit Muon(std::vector<Variable> params, MuonOptions defaults = {});
};

}  // namespace ebb::optim
