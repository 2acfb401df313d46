// Adam and AdamW.
#include <ebb/optim/adam.h>

#include <cmath>

#include "optim/kernels.h"
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

template <class State, class Options>
void update(State& state, const Variable& parameter, NdArray& p, const NdArray& grad, const Options& o,
            bool decoupled) {
  const auto [beta1, beta2] = o.betas();
  state.step(state.step() + 1);
  const auto t = static_cast<double>(state.step());
  kernels::AdamStep how{};
  how.beta1 = beta1;
  how.beta2 = beta2;
  how.eps = o.eps();
  how.weight_decay = decoupled ? 0 : o.weight_decay();
  how.shrink = decoupled ? 1 - o.lr() * o.weight_decay() : 1;
  how.step_size = o.lr() / (1 - std::pow(beta1, t));
  how.root = std::sqrt(1 - std::pow(beta2, t));
  NdArray mean = remembered(state.exp_avg(), parameter), square = remembered(state.exp_avg_sq(), parameter);
  NdArray largest = o.amsgrad() ? remembered(state.max_exp_avg_sq(), parameter) : NdArray();
  kernels::adam_step(parameter.device(), p, grad, mean, square, largest, how);
}

template <class State>
std::vector<std::pair<std::string, Variable>> named(const State& s) {
  return {{"step", step_tensor(s.step())},
          {"exp_avg", s.exp_avg()},
          {"exp_avg_sq", s.exp_avg_sq()},
          {"max_exp_avg_sq", s.max_exp_avg_sq()}};
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
  for_each_gradient<AdamOptions>(
      "Adam", param_groups_, /*bump=*/true,
      [&](const Variable& parameter, NdArray& p, const NdArray& grad, const AdamOptions& o) {
        update(state_of<AdamParamState>(parameter), parameter, p, grad, o, /*decoupled=*/false);
      });
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
  for_each_gradient<AdamWOptions>(
      "AdamW", param_groups_, /*bump=*/true,
      [&](const Variable& parameter, NdArray& p, const NdArray& grad, const AdamWOptions& o) {
        update(state_of<AdamWParamState>(parameter), parameter, p, grad, o, /*decoupled=*/true);
      });
  return loss;
}
std::unique_ptr<OptimizerParamState> AdamW::new_state() const { return std::make_unique<AdamWParamState>(); }
std::vector<std::pair<std::string, Variable>> AdamWParamState::tensors() const { return named(*this); }
void AdamWParamState::load(const std::string& name, const Variable& value) {
  set_named(*this, "AdamW", name, value);
}

}  // namespace ebb::optim
