// L-BFGS.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/optim/optimizer.h>

#include <deque>

namespace ebb::optim {

/// Options of L-BFGS. line_search_fn is "strong_wolfe", or none: the step size is then lr.
class EBB_API LBFGSOptions : public RuleOptions<LBFGSOptions> {
 public:
  LBFGSOptions(double lr = 1) : lr_(lr) {}

  EBB_ARG(double, lr) = 1;                         ///< step size
  EBB_ARG(std::int64_t, max_iter) = 20;            ///< updates of one call of step()
  EBB_ARG(optional<std::int64_t>, max_eval) = {};  ///< evaluations of one call; max_iter * 5 / 4 unless given
  EBB_ARG(double, tolerance_grad) = 1e-7;          ///< ends where the largest slope is at most this
  EBB_ARG(double, tolerance_change) = 1e-9;        ///< ends where loss or parameters change less
  EBB_ARG(std::int64_t, history_size) = 100;       ///< updates that the approximation of the Hessian keeps
  EBB_ARG(optional<std::string>, line_search_fn) = {};  ///< line search along the direction
  EBB_ARG(bool, maximize) = false;                      ///< maximises: takes the negative of the gradient
};
extern template class OptimizerCloneableOptions<LBFGSOptions>;
extern template class RuleOptions<LBFGSOptions>;

/// State of L-BFGS for all parameters together, flattened; it belongs to the first parameter.
class EBB_API LBFGSParamState : public OptimizerCloneableParamState<LBFGSParamState> {
 public:
  void serialize(serialize::OutputArchive& archive) const override;
  void serialize(serialize::InputArchive& archive) override;
  bool fits(const Variable&, const Variable&) const override { return true; }
  /// Whether every number and tensor is the same.
  friend EBB_API bool operator==(const LBFGSParamState& a, const LBFGSParamState& b);

  EBB_ARG(std::int64_t, func_evals) = 0;    ///< evaluations so far
  EBB_ARG(std::int64_t, n_iter) = 0;        ///< updates so far
  EBB_ARG(double, t) = 0;                   ///< length of the last step
  EBB_ARG(double, prev_loss) = 0;           ///< loss before the last step
  EBB_ARG(double, H_diag) = 1;              ///< scale of the first guess of the inverse Hessian
  EBB_ARG(Variable, d);                     ///< last direction
  EBB_ARG(Variable, prev_flat_grad);        ///< gradient before the last step
  EBB_ARG(std::deque<Variable>, old_dirs);  ///< changes of the gradient
  EBB_ARG(std::deque<Variable>, old_stps);  ///< changes of the parameters

 private:
  void load(const std::string& name, const Variable& value);
};
extern template class OptimizerCloneableParamState<LBFGSParamState>;

/// Liu & Nocedal 1989, with the line search of Nocedal & Wright 2006, section 3.5 (torch::optim::LBFGS): a
/// quasi-Newton method for smooth losses. step() needs a closure, which clears the gradients, computes the
/// loss and calls backward; it is called several times. One group of parameters, of one dtype and device.
class EBB_API LBFGS : public Optimizer {
 public:
  explicit LBFGS(std::vector<OptimizerParamGroup> param_groups, LBFGSOptions defaults = {});
  explicit LBFGS(std::vector<Variable> params, LBFGSOptions defaults = {});
  /// The loss at the start.
  Variable step(LossClosure closure) override;

 protected:
  std::unique_ptr<OptimizerParamState> new_state() const override;

 private:
  Variable minimize(const LossClosure& closure);
};

}  // namespace ebb::optim
