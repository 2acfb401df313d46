// Stochastic gradient descent.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/optim/optimizer.h>

namespace ebb::optim {

/// lr has no default. Nesterov momentum needs momentum > 0 and dampening 0.
class EBB_API SGDOptions : public OptimizerCloneableOptions<SGDOptions> {
 public:
  SGDOptions(double lr) : lr_(lr) {}

  EBB_ARG(double, lr);                ///< step size
  EBB_ARG(double, momentum) = 0;      ///< share of the velocity that is kept
  EBB_ARG(double, dampening) = 0;     ///< share of the gradient that the velocity does not take
  EBB_ARG(double, weight_decay) = 0;  ///< factor of the parameter that is added to its gradient
  EBB_ARG(bool, nesterov) = false;    ///< looks ahead by the velocity
};
extern template class OptimizerCloneableOptions<SGDOptions>;

/// The velocity.
class EBB_API SGDParamState : public OptimizerCloneableParamState<SGDParamState> {
 public:
  std::vector<std::pair<std::string, Variable>> tensors() const override;
  void load(const std::string& name, const Variable& value) override;

  EBB_ARG(Variable, momentum_buffer);  ///< velocity
};
extern template class OptimizerCloneableParamState<SGDParamState>;

/// g += weight_decay p; v = momentum v + (1 - dampening) g (v = g at first); p -= lr v, or lr (g + momentum
/// v) with nesterov.
class EBB_API SGD : public Optimizer {
 public:
  explicit SGD(std::vector<OptimizerParamGroup> param_groups, SGDOptions defaults);
  explicit SGD(std::vector<Variable> params, SGDOptions defaults);
  Variable step(LossClosure closure = nullptr) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;
};

}  // namespace ebb::optim
