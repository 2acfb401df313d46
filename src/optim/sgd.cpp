#include <ebb/optim/sgd.h>

#include "ops/common.h"
#include "optim/kernels.h"
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
}  // namespace

SGD::SGD(std::vector<OptimizerParamGroup> param_groups, SGDOptions defaults)
    : Optimizer(std::move(param_groups), checked(defaults)) {}
SGD::SGD(std::vector<Variable> params, SGDOptions defaults)
    : Optimizer(std::move(params), checked(defaults)) {}

Variable SGD::step(LossClosure closure) {
  Variable loss = run(closure);
  for_each_gradient<SGDOptions>(
      "SGD", param_groups_, /*bump=*/false,
      [&](const Variable& parameter, NdArray& p, const NdArray& grad, const SGDOptions& o) {
        kernels::SgdStep how{o.lr(), o.momentum(), o.dampening(), o.weight_decay(), o.nesterov(), false};
        NdArray velocity;
        if (o.momentum() != 0) {
          Variable& buffer = state_of<SGDParamState>(parameter).momentum_buffer();
          how.first = !buffer.defined();
          velocity = remembered(buffer, parameter);
        }
        kernels::sgd_step(parameter.device(), p, grad, velocity, how);
      });
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

}  // namespace ebb::optim
