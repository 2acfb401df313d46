#include <ebb/optim/rmsprop.h>

#include "optim/kernels.h"
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
}  // namespace

RMSprop::RMSprop(std::vector<OptimizerParamGroup> param_groups, RMSpropOptions defaults)
    : Optimizer(std::move(param_groups), checked(defaults)) {}
RMSprop::RMSprop(std::vector<Variable> params, RMSpropOptions defaults)
    : Optimizer(std::move(params), checked(defaults)) {}

Variable RMSprop::step(LossClosure closure) {
  Variable loss = run(closure);
  for_each_gradient<RMSpropOptions>(
      "RMSprop", param_groups_, /*bump=*/true,
      [&](const Variable& parameter, NdArray& p, const NdArray& grad, const RMSpropOptions& o) {
        auto& state = state_of<RMSpropParamState>(parameter);
        state.step(state.step() + 1);
        NdArray square = remembered(state.square_avg(), parameter), velocity, mean;
        if (o.momentum() > 0) velocity = remembered(state.momentum_buffer(), parameter);
        if (o.centered()) mean = remembered(state.grad_avg(), parameter);
        kernels::rmsprop_step(parameter.device(), p, grad, square, velocity, mean,
                              {o.lr(), o.alpha(), o.eps(), o.weight_decay(), o.momentum()});
      });
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

}  // namespace ebb::optim
