// RMSprop.
#include <ebb/optim/rmsprop.h>

#include "optim/step.h"

namespace ebb::optim {

namespace {
std::unique_ptr<OptimizerOptions> checked(const RMSpropOptions& o) {
  check_option(o.lr() >= 0, "learning rate", o.lr());
  check_option(o.eps() >= 0, "epsilon value", o.eps());
  check_option(o.momentum() >= 0, "momentum value", o.momentum());
  check_option(o.weight_decay() >= 0, "weight_decay value", o.weight_decay());
  check_option(o.alpha() >= 0, "alpha value", o.alpha());
  return o.clone();
}

struct Kind {
  using Options = RMSpropOptions;
  using State = RMSpropParamState;
  static constexpr const char* kName = "RMSprop";
  static constexpr bool kBumps = true;

  static bool remembers(const Options&) { return true; }
  static std::int64_t number(const State& state) { return state.step() + 1; }
  static void advance(State& state) { state.step(state.step() + 1); }
  template <class Add>
  static void collect(const Options& o, const Variable& parameter, State& state, const Add& add) {
    add(0, remembered(kName, state.square_avg(), parameter));
    if (o.momentum() > 0) add(1, remembered(kName, state.momentum_buffer(), parameter));
    if (o.centered()) add(2, remembered(kName, state.grad_avg(), parameter));
  }
  static math::RmspropStep how(const Options& o, std::int64_t) {
    return {o.lr(), o.alpha(), o.eps(), o.weight_decay(), o.momentum()};
  }
};
}  // namespace

RMSprop::RMSprop(std::vector<OptimizerParamGroup> param_groups, RMSpropOptions defaults)
    : Optimizer(std::move(param_groups), checked(defaults)) {}
RMSprop::RMSprop(std::vector<Variable> params, RMSpropOptions defaults)
    : Optimizer(std::move(params), checked(defaults)) {}

Variable RMSprop::step(LossClosure closure) {
  Variable loss = run(closure);
  update_all<Kind>();
  return loss;
}

std::unique_ptr<OptimizerParamState> RMSprop::new_state() const {
  return std::make_unique<RMSpropParamState>();
}

std::vector<std::pair<std::string, Variable>> RMSpropParamState::tensors() const {
  return {{"step", step_tensor(step_)},
          {"square_avg", square_avg_},
          {"momentum_buffer", momentum_buffer_},
          {"grad_avg", grad_avg_}};
}
void RMSpropParamState::load(const std::string& name, const Variable& value) {
  if (name == "step")
    step_ = value.item<std::int64_t>();
  else if (name == "square_avg")
    square_avg_ = value;
  else if (name == "momentum_buffer")
    momentum_buffer_ = value;
  else if (name == "grad_avg")
    grad_avg_ = value;
  else
    unknown_state("RMSprop", name);
}

template class OptimizerCloneableOptions<RMSpropOptions>;
template class OptimizerCloneableParamState<RMSpropParamState>;

}  // namespace ebb::optim
