// Adagrad.
#include <ebb/optim/adagrad.h>

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

struct Kind {
  using Options = AdagradOptions;
  using State = AdagradParamState;
  static constexpr const char* kName = "Adagrad";
  static constexpr bool kBumps = true;

  static bool remembers(const Options&) { return true; }
  static std::int64_t number(const State& state) { return state.step() + 1; }
  static void advance(State& state) { state.step(state.step() + 1); }
  template <class Add>
  static void collect(const Options& o, const Variable& parameter, State& state, const Add& add) {
    if (!state.sum().defined()) {
      check_not_captured(kName, parameter);
      state.sum(full(parameter.sizes(), o.initial_accumulator_value(), parameter.options()));
    }
    add(0, remembered(kName, state.sum(), parameter));
  }
  static math::AdagradStep how(const Options& o, std::int64_t number) {
    return {o.lr() / (1 + static_cast<double>(number - 1) * o.lr_decay()), o.eps(), o.weight_decay()};
  }
};
}  // namespace

Adagrad::Adagrad(std::vector<OptimizerParamGroup> param_groups, AdagradOptions defaults)
    : Optimizer(std::move(param_groups), checked(defaults)) {}
Adagrad::Adagrad(std::vector<Variable> params, AdagradOptions defaults)
    : Optimizer(std::move(params), checked(defaults)) {}

Variable Adagrad::step(LossClosure closure) {
  Variable loss = run(closure);
  update_all<Kind>();
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

template class OptimizerCloneableOptions<AdagradOptions>;
template class OptimizerCloneableParamState<AdagradParamState>;

}  // namespace ebb::optim
