// Adafactor: second moments stored as means over rows and columns.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/optim/optimizer.h>

#include <tuple>

namespace ebb::optim {

/// Options of Adafactor. eps contains two lower bounds. The first limits the mean squares (default: the
/// epsilon of the dtype). The second limits the root mean square of a parameter, which scales its step.
/// weight_decay is decoupled.
class EBB_API AdafactorOptions : public RuleOptions<AdafactorOptions> {
 public:
  using eps_t = std::tuple<optional<double>, double>;
  AdafactorOptions(double lr = 1e-2) : lr_(lr) {}

  EBB_ARG(double, lr) = 1e-2;               ///< largest step size, for a parameter with root mean square 1
  EBB_ARG(double, beta2_decay) = -0.8;      ///< weight of the new squares at step t: t^beta2_decay
  EBB_ARG(eps_t, eps) = { nullopt, 1e-3 };  ///< the two lower bounds described above
  EBB_ARG(double, d) = 1;                   ///< largest root mean square of an update
  EBB_ARG(double, weight_decay) = 0;        ///< decoupled decay: p *= 1 - lr * weight_decay
  EBB_ARG(bool, maximize) = false;          ///< maximizes: negates the gradient
};
extern template class OptimizerCloneableOptions<AdafactorOptions>;
extern template class RuleOptions<AdafactorOptions>;

/// State of Adafactor for one parameter: mean squares of the gradient. A parameter with at least two
/// dimensions has a mean for each row and each column of the last two; a vector has one for each element.
class EBB_API AdafactorParamState : public RuleParamState<AdafactorParamState, AdafactorOptions> {
 public:
  bool fits(const Variable& value, const Variable& parameter) const override;

  EBB_ARG(std::int64_t, step) = 0;  ///< updates so far
  EBB_ARG(Variable, row_var);       ///< mean squares of the rows, [..., rows, 1]
  EBB_ARG(Variable, col_var);       ///< mean squares of the columns, [..., 1, columns]
  EBB_ARG(Variable, variance);      ///< mean squares of a vector
};
extern template class OptimizerCloneableParamState<AdafactorParamState>;
extern template class RuleParamState<AdafactorParamState, AdafactorOptions>;
extern template class RuleOptimizer<AdafactorOptions, AdafactorParamState>;

/// Adafactor (Shazeer & Stern 2018; torch.optim.Adafactor). Adam's second moment is stored as its means over
/// rows (R) and columns (C), from which it is computed as R C / mean(R). There is no first moment. Step sizes
/// are relative to the parameter's root mean square. A step cannot be captured in a graph.
class EBB_API Adafactor : public RuleOptimizer<AdafactorOptions, AdafactorParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace ebb::optim
