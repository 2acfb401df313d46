// Hooks of optimizers.
#include "optim/hooks.h"

namespace ebb::optim {

using nn::RemovableHandle;
using nn::detail::add_hook;

const std::shared_ptr<Optimizer::Hooks>& Optimizer::global_hooks() {
  static const auto hooks = std::make_shared<Hooks>();
  return hooks;
}
const std::shared_ptr<Optimizer::Hooks>& Optimizer::made_hooks() {
  if (!hooks_) hooks_ = std::make_shared<Hooks>();
  return hooks_;
}

void Optimizer::before_step(LossClosure& closure) {
  run_hooks<&Hooks::step_pre>(global_hooks(), *this, closure);
  run_hooks<&Hooks::step_pre>(hooks_, *this, closure);
}
void Optimizer::after_step() {
  run_hooks<&Hooks::step_post>(hooks_, *this);
  run_hooks<&Hooks::step_post>(global_hooks(), *this);
}

RemovableHandle Optimizer::register_step_pre_hook(StepPreHook hook) {
  return add_hook<&Hooks::step_pre>(made_hooks(), std::move(hook));
}
RemovableHandle Optimizer::register_step_post_hook(StepPostHook hook) {
  return add_hook<&Hooks::step_post>(made_hooks(), std::move(hook));
}
RemovableHandle Optimizer::register_state_dict_pre_hook(StateDictPreHook hook, bool prepend) {
  return add_hook<&Hooks::state_pre>(made_hooks(), std::move(hook), prepend);
}
RemovableHandle Optimizer::register_state_dict_post_hook(StateDictPostHook hook, bool prepend) {
  return add_hook<&Hooks::state_post>(made_hooks(), std::move(hook), prepend);
}
RemovableHandle Optimizer::register_load_state_dict_pre_hook(LoadStateDictPreHook hook, bool prepend) {
  return add_hook<&Hooks::load_pre>(made_hooks(), std::move(hook), prepend);
}
RemovableHandle Optimizer::register_load_state_dict_post_hook(LoadStateDictPostHook hook, bool prepend) {
  return add_hook<&Hooks::load_post>(made_hooks(), std::move(hook), prepend);
}

RemovableHandle register_optimizer_step_pre_hook(Optimizer::StepPreHook hook) {
  return add_hook<&Optimizer::Hooks::step_pre>(Optimizer::global_hooks(), std::move(hook));
}
RemovableHandle register_optimizer_step_post_hook(Optimizer::StepPostHook hook) {
  return add_hook<&Optimizer::Hooks::step_post>(Optimizer::global_hooks(), std::move(hook));
}

}  // namespace ebb::optim
