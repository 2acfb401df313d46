// Adam and AdamW.
#include <ebb/optim/adam.h>

#include <cmath>

#include "optim/step.h"

namespace ebb::optim {

namespace {

template <class Options>
std::unique_ptr<OptimizerOptions> checked(const Options& o) {
  const auto [beta1, beta2] = o.betas();
  check_option(o.lr() >= 0, "learning rate", o.lr());
  check_option(o.eps() >= 0, "epsilon value", o.eps());
  check_option(beta1 >= 0 && beta1 < 1, "beta parameter at index 0", beta1);
  check_option(beta2 >= 0 && beta2 < 1, "beta parameter at index 1", beta2);
  check_option(o.weight_decay() >= 0, "weight_decay value", o.weight_decay());
  return o.clone();
}

template <class O, class S, bool kDecoupled>
struct Kind {
  using Options = O;
  using State = S;
  static constexpr const char* kName = kDecoupled ? "AdamW" : "Adam";
  static constexpr bool kBumps = true;

  static bool remembers(const Options&) { return true; }
  static std::int64_t number(const State& state) { return state.step() + 1; }
  static void advance(State& state) { state.step(state.step() + 1); }
  template <class Add>
  static void collect(const Options& o, const Variable& parameter, State& state, const Add& add) {
    const DType dtype = has_master(o, parameter) ? kFloat : parameter.dtype();
    add(0, remembered(kName, state.exp_avg(), parameter, dtype));
    add(1, remembered(kName, state.exp_avg_sq(), parameter, dtype));
    if (o.amsgrad()) add(2, remembered(kName, state.max_exp_avg_sq(), parameter, dtype));
  }
  static math::AdamStep how(const Options& o, std::int64_t number) {
    const auto [beta1, beta2] = o.betas();
    const auto t = static_cast<double>(number);
    math::AdamStep how{};
    how.beta1 = beta1;
    how.beta2 = beta2;
    how.eps = o.eps();
    how.weight_decay = kDecoupled ? 0 : o.weight_decay();
    how.shrink = kDecoupled ? 1 - o.lr() * o.weight_decay() : 1;
    how.step_size = o.lr() / (1 - std::pow(beta1, t));
    how.root = std::sqrt(1 - std::pow(beta2, t));
    return how;
  }
};

template <class State>
std::vector<std::pair<std::string, Variable>> named(const State& s) {
  return {{"step", step_tensor(s.step())},
          {"exp_avg", s.exp_avg()},
          {"exp_avg_sq", s.exp_avg_sq()},
          {"max_exp_avg_sq", s.max_exp_avg_sq()},
          {"master", s.master()}};
}

template <class State>
void set_named(State& s, const char* optimizer, const std::string& name, const Variable& value) {
  if (name == "step")
    s.step(value.item<std::int64_t>());
  else if (name == "exp_avg")
    s.exp_avg(value);
  else if (name == "exp_avg_sq")
    s.exp_avg_sq(value);
  else if (name == "max_exp_avg_sq")
    s.max_exp_avg_sq(value);
  else if (name == "master")
    s.master(value);
  else
    unknown_state(optimizer, name);
}

}  // namespace

Adam::Adam(std::vector<OptimizerParamGroup> param_groups, AdamOptions defaults)
    : Optimizer(std::move(param_groups), checked(defaults)) {}
Adam::Adam(std::vector<Variable> params, AdamOptions defaults)
    : Optimizer(std::move(params), checked(defaults)) {}

Variable Adam::step(LossClosure closure) {
  Variable loss = run(closure);
  update_all<Kind<AdamOptions, AdamParamState, false>>();
  return loss;
}
std::unique_ptr<OptimizerParamState> Adam::new_state() const { return std::make_unique<AdamParamState>(); }
std::vector<std::pair<std::string, Variable>> AdamParamState::tensors() const { return named(*this); }
void AdamParamState::load(const std::string& name, const Variable& value) {
  set_named(*this, "Adam", name, value);
}

AdamW::AdamW(std::vector<OptimizerParamGroup> param_groups, AdamWOptions defaults)
    : Optimizer(std::move(param_groups), checked(defaults)) {}
AdamW::AdamW(std::vector<Variable> params, AdamWOptions defaults)
    : Optimizer(std::move(params), checked(defaults)) {}

Variable AdamW::step(LossClosure closure) {
  Variable loss = run(closure);
  update_all<Kind<AdamWOptions, AdamWParamState, true>>();
  return loss;
}
std::unique_ptr<OptimizerParamState> AdamW::new_state() const { return std::make_unique<AdamWParamState>(); }
std::vector<std::pair<std::string, Variable>> AdamWParamState::tensors() const { return named(*this); }
void AdamWParamState::load(const std::string& name, const Variable& value) {
  set_named(*this, "AdamW", name, value);
}

template class OptimizerCloneableOptions<AdamOptions>;
template class OptimizerCloneableOptions<AdamWOptions>;
template class OptimizerCloneableParamState<AdamParamState>;
template class OptimizerCloneableParamState<AdamWParamState>;

}  // namespace ebb::optim
