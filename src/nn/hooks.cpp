// Hooks of modules: registration, and the calls of hooks before and after forward and backward.
#include "nn/hooks.h"

#include <ebb/autograd/function.h>
#include <ebb/autograd/grad_mode.h>
#include <ebb/autograd/hooks.h>
#include <ebb/ops/creation.h>

#include "autograd/swap_tensor.h"

#include <algorithm>

namespace ebb::nn {

namespace detail {

HooksPointer::HooksPointer(const HooksPointer& other) {
  if (!other) return;
  hooks_ = std::make_shared<ModuleHooks>(*other.hooks_);
  hooks_->computed = false;
}

HooksPointer& HooksPointer::operator=(const HooksPointer& other) {
  if (this != &other) hooks_ = HooksPointer(other).hooks_;
  return *this;
}

const std::shared_ptr<ModuleHooks>& HooksPointer::get_or_create() {
  if (!hooks_) hooks_ = std::make_shared<ModuleHooks>();
  return hooks_;
}

void HooksPointer::reset_if_unused() noexcept {
  if (!hooks_) return;
  const ModuleHooks& h = *hooks_;
  const auto unused = [](const auto&... lists) { return (lists.empty() && ...); };
  if (unused(h.forward_pre, h.backward_pre, h.forward, h.backward, h.observers, h.state_pre, h.state_post,
             h.load_pre, h.load_post, h.derived))
    hooks_.reset();
}

void recompute(Module& module) {
  for (const DerivedTensor& each : ModuleAccess::hooks(module)->derived)
    autograd::swap_tensor(each.target, each.compute(module));
}

void recompute_evaluated(Module& module) {
  std::vector<std::pair<TrainingFlag*, bool>> modes{{&ModuleAccess::training(module), module.is_training()}};
  for (const std::shared_ptr<Module>& each : module.modules(/*include_self=*/false))
    modes.emplace_back(&ModuleAccess::training(*each), each->is_training());
  for (const auto& [trains, before] : modes) *trains = false;
  recompute(module);
  for (const auto& [trains, before] : modes) *trains = before;
}

Variable take_parameter(Module& module, const std::string& name) {
  Module::StateDict& parameters = ModuleAccess::parameters(module);
  const Variable* const found = parameters.find(name);
  EBB_CHECK(found && found->defined(), module.name(), " has no parameter '", name, "'.");
  Variable parameter = *found;
  parameters.erase(name);
  return parameter;
}

void derive(Module& module, DerivedTensor derived) {
  ModuleAccess::hooks(module).get_or_create()->derived.push_back(std::move(derived));
}

bool is_derived(const Module& module, const std::string& name) {
  if (!module.has_hooks()) return false;
  for (const DerivedTensor& each : ModuleAccess::hooks(module)->derived)
    if (each.name == name) return true;
  return false;
}

Variable no_longer_derived(Module& module, const std::string& name, bool requires_grad,
                           const optional<Variable>& value) {
  std::vector<DerivedTensor>& all = ModuleAccess::hooks(module).get_or_create()->derived;
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.name == name; });
  const Variable target = found->target;
  all.erase(found);
  NoGradGuard no_grad;
  autograd::restore_leaf(target, value.value_or(target).detach().clone(), requires_grad);
  return target;
}

namespace {

variable_list tensors_at(const std::vector<Variable*>& pointers) {
  variable_list tensors;
  for (const Variable* pointer : pointers) tensors.push_back(*pointer);
  return tensors;
}

void check_count(const Module& module, const char* what, std::size_t expected, std::size_t got) {
  EBB_CHECK(expected == got, what, " of ", module.name(), " returned ", std::uint64_t{got},
            " tensors in place of ", std::uint64_t{expected},
            ". Return this number of tensors, or nothing to leave them unchanged.");
}

// The identity function. It records a node, to which a hook is attached.
struct Gate : autograd::Function<Gate> {
  static variable_list forward(autograd::AutogradContext* ctx, variable_list tensors) {
    ctx->set_materialize_grads(false);
    return tensors;
  }
  static variable_list backward(autograd::AutogradContext*, variable_list grads) { return grads; }
};

using Positions = std::vector<std::size_t>;

// Passes the tensors that require grad through one node, which calls `hook` with their gradients. Returns the
// positions of these tensors.
Positions gate(const std::vector<Variable*>& pointers, autograd::NodePreHook hook) {
  Positions positions;
  variable_list tensors;
  for (std::size_t i = 0; i < pointers.size(); ++i) {
    if (!pointers[i]->defined() || !pointers[i]->requires_grad()) continue;
    positions.push_back(i);
    tensors.push_back(*pointers[i]);
  }
  if (tensors.empty() || !GradMode::is_enabled()) return {};
  tensors = Gate::apply(tensors);
  for (std::size_t i = 0; i < tensors.size(); ++i) *pointers[positions[i]] = tensors[i];
  autograd::add_pre_hook(*tensors[0].grad_fn(), std::move(hook));
  return positions;
}

variable_list spread(const variable_list& few, const Positions& positions, std::size_t count) {
  variable_list all(count);
  for (std::size_t i = 0; i < positions.size() && i < few.size(); ++i) all[positions[i]] = few[i];
  return all;
}
variable_list picked(const variable_list& all, const Positions& positions) {
  variable_list few;
  for (const std::size_t position : positions) few.push_back(all[position]);
  return few;
}

}  // namespace

// The state that the two nodes around one call share.
struct HookedCall::Backward {
  std::weak_ptr<Module> module;
  HookList<PreHook> before;
  HookList<PostHook> after;
  Positions inputs, outputs;
  std::size_t input_count = 0, output_count = 0;
  variable_list grad_outputs;

  variable_list arrived(const variable_list& grads) {
    const std::shared_ptr<Module> m = module.lock();
    if (!m) return {};
    grad_outputs = spread(grads, outputs, output_count);
    for (const auto& [id, hook] : before) {
      optional<variable_list> other = hook(*m, grad_outputs);
      if (!other) continue;
      check_count(*m, "a backward pre-hook", grad_outputs.size(), other->size());
      grad_outputs = std::move(*other);
    }
    if (inputs.empty()) {
      for (const auto& [id, hook] : after)
        EBB_CHECK(!hook(*m, variable_list(input_count), grad_outputs), "a backward hook of ", m->name(),
                  " replaced gradients of inputs, but no input requires grad.");
    }
    return picked(grad_outputs, outputs);
  }

  variable_list left(const variable_list& grads) {
    const std::shared_ptr<Module> m = module.lock();
    if (!m) return {};
    variable_list grad_inputs = spread(grads, inputs, input_count);
    for (const auto& [id, hook] : after) {
      optional<variable_list> other = hook(*m, grad_inputs, grad_outputs);
      if (!other) continue;
      check_count(*m, "a backward hook", grad_inputs.size(), other->size());
      grad_inputs = std::move(*other);
    }
    return picked(grad_inputs, inputs);
  }
};

HookedCall::HookedCall(Module& module, const std::vector<Variable*>& inputs)
    : module_(module), hooks_(module.hooks_.get_or_create()), computes_(!hooks_->derived.empty()) {
  // Writes to `hooks_` only if the module has derived tensors. A module without derived tensors may be called
  // by several threads concurrently.
  if (computes_) {
    recompute(module);
    hooks_->computed = true;
  }
  const auto before = hooks_->forward_pre;
  for (const auto& [id, hook] : before) {
    const optional<variable_list> other = hook(module, tensors_at(inputs));
    if (!other) continue;
    check_count(module, "a forward pre-hook", inputs.size(), other->size());
    for (std::size_t i = 0; i < inputs.size(); ++i) *inputs[i] = (*other)[i];
  }
  if (!hooks_->backward_pre.empty() || !hooks_->backward.empty()) {
    backward_ = std::make_shared<Backward>();
    backward_->module = module.weak_from_this();
    backward_->before = hooks_->backward_pre;
    backward_->after = hooks_->backward;
    backward_->input_count = inputs.size();
    backward_->inputs =
        gate(inputs, [state = backward_](const variable_list& grads) { return state->left(grads); });
  }
  inputs_ = tensors_at(inputs);
}

HookedCall::~HookedCall() {
  if (computes_) hooks_->computed = false;
}

void HookedCall::finish(const std::vector<Variable*>& outputs) {
  const auto after = hooks_->forward;
  for (const auto& [id, hook] : after) {
    const optional<variable_list> other = hook(module_, inputs_, tensors_at(outputs));
    if (!other) continue;
    check_count(module_, "a forward hook", outputs.size(), other->size());
    for (std::size_t i = 0; i < outputs.size(); ++i) *outputs[i] = (*other)[i];
  }
  if (!backward_) return;
  backward_->output_count = outputs.size();
  backward_->outputs =
      gate(outputs, [state = backward_](const variable_list& grads) { return state->arrived(grads); });
}

}  // namespace detail

using Hooks = detail::ModuleHooks;

RemovableHandle Module::add_hook(Moment moment, detail::PreHook hook, bool prepend) {
  return moment == Moment::forward
             ? detail::add_hook<&Hooks::forward_pre>(hooks_.get_or_create(), std::move(hook), prepend)
             : detail::add_hook<&Hooks::backward_pre>(hooks_.get_or_create(), std::move(hook), prepend);
}
RemovableHandle Module::add_hook(Moment moment, detail::PostHook hook, bool prepend) {
  return moment == Moment::forward
             ? detail::add_hook<&Hooks::forward>(hooks_.get_or_create(), std::move(hook), prepend)
             : detail::add_hook<&Hooks::backward>(hooks_.get_or_create(), std::move(hook), prepend);
}
RemovableHandle Module::register_state_dict_pre_hook(StateDictPreHook hook) {
  return detail::add_hook<&Hooks::state_pre>(hooks_.get_or_create(), std::move(hook));
}
RemovableHandle Module::register_state_dict_post_hook(StateDictPostHook hook) {
  return detail::add_hook<&Hooks::state_post>(hooks_.get_or_create(), std::move(hook));
}
RemovableHandle Module::register_load_state_dict_pre_hook(LoadStateDictPreHook hook) {
  return detail::add_hook<&Hooks::load_pre>(hooks_.get_or_create(), std::move(hook));
}
RemovableHandle Module::register_load_state_dict_post_hook(LoadStateDictPostHook hook) {
  return detail::add_hook<&Hooks::load_post>(hooks_.get_or_create(), std::move(hook));
}

}  // namespace ebb::nn
