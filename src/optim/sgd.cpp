// Stochastic gradient descent.
#include <ebb/optim/sgd.h>

#include "optim/step.h"

namespace ebb::optim {

namespace {
std::unique_ptr<OptimizerOptions> checked(const SGDOptions& o) {
  check_option(o.lr() >= 0, "learning rate", o.lr());
  check_option(o.momentum() >= 0, "momentum value", o.momentum());
  check_option(o.weight_decay() >= 0, "weight_decay value", o.weight_decay());
  EBB_CHECK(!o.nesterov() || (o.momentum() > 0 && o.dampening() == 0),
            "Nesterov momentum requires a momentum and zero dampening");
  return o.clone();
}

struct Kind {
  using Options = SGDOptions;
  using State = SGDParamState;
  static constexpr const char* kName = "SGD";
  static constexpr bool kBumps = false;

  static bool remembers(const Options& o) { return o.momentum() != 0; }
  // All that counts is whether it is the first, which fills the velocity.
  static std::int64_t number(const State& state) { return state.momentum_buffer().defined() ? 2 : 1; }
  static void advance(State&) {}
  template <class Add>
  static void collect(const Options&, const Variable& parameter, State& state, const Add& add) {
    add(0, remembered(kName, state.momentum_buffer(), parameter));
  }
  static math::SgdStep how(const Options& o, std::int64_t number) {
    return {o.lr(), o.momentum(), o.dampening(), o.weight_decay(), o.nesterov(), number == 1};
  }
};
}  // namespace

SGD::SGD(std::vector<OptimizerParamGroup> param_groups, SGDOptions defaults)
    : Optimizer(std::move(param_groups), checked(defaults)) {}
SGD::SGD(std::vector<Variable> params, SGDOptions defaults)
    : Optimizer(std::move(params), checked(defaults)) {}

Variable SGD::step(LossClosure closure) {
  Variable loss = run(closure);
  update_all<Kind>();
  return loss;
}

std::unique_ptr<OptimizerParamState> SGD::new_state() const { return std::make_unique<SGDParamState>(); }

std::vector<std::pair<std::string, Variable>> SGDParamState::tensors() const {
  return {{"momentum_buffer", momentum_buffer_}};
}
void SGDParamState::load(const std::string& name, const Variable& value) {
  if (name != "momentum_buffer") unknown_state("SGD", name);
  momentum_buffer_ = value;
}

template class OptimizerCloneableOptions<SGDOptions>;
template class OptimizerCloneableParamState<SGDParamState>;

}  // namespace ebb::optim
