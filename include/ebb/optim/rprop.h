// Rprop: resilient backpropagation.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/optim/optimizer.h>

#include <tuple>

namespace ebb::optim {

/// Options of Rprop. Rprop uses only the signs of gradients, and should be used with gradients of whole data
/// sets.
class EBB_API RpropOptions : public RuleOptions<RpropOptions> {
 public:
  using etas_t = std::tuple<double, double>;
  using step_sizes_t = std::tuple<double, double>;
  RpropOptions(double lr = 1e-2) : lr_(lr) {}

  EBB_ARG(double, lr) = 1e-2;  ///< step size
  EBB_ARG(etas_t, etas) = {
    0.5,
    1.2
  };  ///< factors of the step size after a change of sign and without a change
  EBB_ARG(step_sizes_t, step_sizes) = { 1e-6, 50 };  ///< smallest and largest step size
  EBB_ARG(bool, maximize) = false;                   ///< maximizes: negates the gradient
};
extern template class OptimizerCloneableOptions<RpropOptions>;
extern template class RuleOptions<RpropOptions>;

/// State of Rprop for one parameter: its previous gradient, and the step size of each element.
class EBB_API RpropParamState : public RuleParamState<RpropParamState, RpropOptions> {
  EBB_ARG(std::int64_t, step) = 0;  ///< updates so far
  EBB_ARG(Variable, prev);          ///< previous gradient
  EBB_ARG(Variable, step_size);     ///< step size of each element
};
extern template class OptimizerCloneableParamState<RpropParamState>;
extern template class RuleParamState<RpropParamState, RpropOptions>;
extern template class RuleOptimizer<RpropOptions, RpropParamState>;

/// Rprop (Riedmiller & Braun 1993; torch.optim.Rprop): each element has its own step size, initially lr. The
/// size grows while the gradient keeps its sign. If the sign changes, the size shrinks, and the element does
/// not move. The update is p -= sign(g) * size.
class EBB_API Rprop : public RuleOptimizer<RpropOptions, RpropParamState> {
 public:
  using RuleOptimizer::RuleOptimizer;
};

}  // namespace ebb::optim
