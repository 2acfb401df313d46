// Adafactor.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/optim/optimizer.h>

#include <tuple>

namespace ebb::optim {

/// eps is a least mean square (that of the dtype unless given) and a least size of a parameter.
class EBB_API AdafactorOptions : public RuleOptions<AdafactorOptions> {
 public:
  using eps_t = std::tuple<optional<double>, double>;
  AdafactorOptions(double lr = 1e-2) : lr_(lr) {}

  EBB_ARG(double, lr) = 1e-2;             ///< largest step size, of a parameter of size 1
  EBB_ARG(double, beta2_decay) = -0.8;    ///< t^beta2_decay is the share of the new squares
  EBB_ARG(eps_t, eps) = {nullopt, 1e-3};  ///< see above
  EBB_ARG(double, d) = 1;                 ///< root of the mean square beyond which an update is scaled down
  EBB_ARG(double, weight_decay) = 0;      ///< share of the parameter that a step of size 1 takes away
  EBB_ARG(bool, maximize) = false;        ///< climbs: takes the negative of the gradient
};
extern template class OptimizerCloneableOptions<AdafactorOptions>;
extern template class RuleOptions<AdafactorOptions>;

/// Mean squares: of the rows and columns of the last two dimensions, or of each number of a vector.
class EBB_API AdafactorParamState : public RuleParamState<AdafactorParamState, AdafactorOptions> {
 public:
  bool fits(const Variable& value, const Variable& parameter) const override;

  EBB_ARG(std::int64_t, step) = 0;  ///< updates so far
  EBB_ARG(Variable, row_var);       ///< [..., rows, 1]
  EBB_ARG(Variable, col_var);       ///< [..., 1, columns]
  EBB_ARG(Variable, variance);      ///< of vectors
};
extern template class OptimizerCloneableParamState<AdafactorParamState>;
extern template class RuleParamState<AdafactorParamState, AdafactorOptions>;
extern template class RuleOptimizer<AdafactorOptions, AdafactorParamState>;

/// Shazeer & Stern 2018 (torch.optim.Adafactor): Adam's second moment, kept as its rows' and columns' means
/// R C / mean(R); no first moment; step sizes are relative to the parameter's. A step is not captured.
class EBB_API Adafactor : public RuleOptimizer<AdafactorOptions, AdafactorParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace ebb::optim
