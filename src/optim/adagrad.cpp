#include <ebb/optim/adagrad.h>

#include "optim/kernels.h"
#include "optim/step.h"

namespace ebb::optim {

namespace {
std::unique_ptr<OptimizerOptions> checked(const AdagradOptions& o) {
  check_option(o.lr() >= 0, "learning rate", o.lr());
  check_option(o.lr_decay() >= 0, "lr_decay value", o.lr_decay());
  check_option(o.weight_decay() >= 0, "weight_decay value", o.weight_decay());
  check_option(o.initial_accumulator_value() >= 0, "initial_accumulator_value value",
               o.initial_accumulator_value());
  check_option(o.eps() >= 0, "epsilon value", o.eps());
  return o.clone();
}
}  // namespace

Adagrad::Adagrad(std::vector<OptimizerParamGroup> param_groups, AdagradOptions defaults)
    : Optimizer(std::move(param_groups), checked(defaults)) {}
Adagrad::Adagrad(std::vector<Variable> params, AdagradOptions defaults)
    : Optimizer(std::move(params), checked(defaults)) {}

Variable Adagrad::step(LossClosure closure) {
  Variable loss = run(closure);
  for_each_gradient<AdagradOptions>(
      "Adagrad", param_groups_, /*bump=*/true,
      [&](const Variable& parameter, NdArray& p, const NdArray& grad, const AdagradOptions& o) {
        auto& state = state_of<AdagradParamState>(parameter);
        state.step(state.step() + 1);
        if (!state.sum().defined())
          state.sum(full(parameter.sizes(), o.initial_accumulator_value(), parameter.options()));
        NdArray sum = remembered(state.sum(), parameter);
        const double lr = o.lr() / (1 + static_cast<double>(state.step() - 1) * o.lr_decay());
        kernels::adagrad_step(parameter.device(), p, grad, sum, {lr, o.eps(), o.weight_decay()});
      });
  return loss;
}

std::unique_ptr<OptimizerParamState> Adagrad::new_state() const {
  return std::make_unique<AdagradParamState>();
}

std::vector<std::pair<std::string, Variable>> AdagradParamState::tensors() const {
  return {{"step", step_tensor(step_)}, {"sum", sum_}};
}
void AdagradParamState::load(const std::string& name, const Variable& value) {
  if (name == "step")
    step_ = value.item<std::int64_t>();
  else if (name == "sum")
    sum_ = value;
  else
    unknown_state("Adagrad", name);
}

}  // namespace ebb::optim
