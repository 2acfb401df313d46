// L-BFGS: a quasi-Newton method with a limited history of steps.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/optim/optimizer.h>

#include <deque>

namespace ebb::optim {

/// Options of L-BFGS. line_search_fn is "strong_wolfe", or none, which uses lr as the step size.
class EBB_API LBFGSOptions : public RuleOptions<LBFGSOptions> {
 public:
  LBFGSOptions(double lr = 1) : lr_(lr) {}

  EBB_ARG(double, lr) = 1;                         ///< step size
  EBB_ARG(std::int64_t, max_iter) = 20;            ///< maximum number of updates per step()
  EBB_ARG(optional<std::int64_t>, max_eval) = {};  ///< maximum number of evaluations per step(); default
                                                   ///< max_iter * 5 / 4
  EBB_ARG(double, tolerance_grad) = 1e-7;          ///< stops if no element of the gradient is larger
  EBB_ARG(double, tolerance_change) = 1e-9;        ///< stops if loss or parameters change less
  EBB_ARG(std::int64_t, history_size) = 100;       ///< number of updates stored for the Hessian approximation
  EBB_ARG(optional<std::string>, line_search_fn) = {};  ///< line search along the direction
  EBB_ARG(bool, maximize) = false;                      ///< maximizes: negates the gradient
};
extern template class OptimizerCloneableOptions<LBFGSOptions>;
extern template class RuleOptions<LBFGSOptions>;

/// State of L-BFGS. There is one state for all parameters, which are flattened to one vector. It is stored as
/// the state of the first parameter.
class EBB_API LBFGSParamState : public OptimizerCloneableParamState<LBFGSParamState> {
 public:
  void serialize(serialize::OutputArchive& archive) const override;
  void serialize(serialize::InputArchive& archive) override;
  bool fits(const Variable&, const Variable&) const override { return true; }
  /// Returns whether all numbers and tensors are equal.
  friend EBB_API bool operator==(const LBFGSParamState& a, const LBFGSParamState& b);

  EBB_ARG(std::int64_t, func_evals) = 0;    ///< evaluations so far
  EBB_ARG(std::int64_t, n_iter) = 0;        ///< updates so far
  EBB_ARG(double, t) = 0;                   ///< length of the last step
  EBB_ARG(double, prev_loss) = 0;           ///< loss before the last step
  EBB_ARG(double, H_diag) = 1;              ///< scale of the initial inverse Hessian
  EBB_ARG(Variable, d);                     ///< last direction
  EBB_ARG(Variable, prev_flat_grad);        ///< gradient before the last step
  EBB_ARG(std::deque<Variable>, old_dirs);  ///< changes of the gradient
  EBB_ARG(std::deque<Variable>, old_stps);  ///< changes of the parameters

 private:
  void load(const std::string& name, const Variable& value);
};
extern template class OptimizerCloneableParamState<LBFGSParamState>;

/// L-BFGS (Liu & Nocedal 1989; torch::optim::LBFGS), a quasi-Newton method for smooth losses. The line search
/// follows Nocedal & Wright 2006, section 3.5. step() needs a closure, which clears the gradients, computes
/// the loss and calls backward; it is called several times. Supports one group of parameters of the same
/// dtype on the same device.
class EBB_API LBFGS : public Optimizer {
 public:
  explicit LBFGS(std::vector<OptimizerParamGroup> param_groups, LBFGSOptions defaults = {});
  explicit LBFGS(std::vector<Variable> params, LBFGSOptions defaults = {});
  /// Returns the loss before the first update.
  Variable step(LossClosure closure) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;

 private:
  Variable minimize(const LossClosure& closure);
};

}  // namespace ebb::optim
