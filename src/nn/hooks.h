// ModuleHooks and ModuleAccess: the hooks of a module, and the access of nn to its private members.
#pragma once

#include <ebb/nn/module.h>

#include "nn/hook_list.h"

#include <utility>
#include <vector>

namespace ebb::nn::detail {

/// A tensor of a module that is computed from others before each call, for example a weight with a
/// parametrization.
struct DerivedTensor {
  std::string name;
  Variable target;  // the tensor to which the module's member refers
  std::function<Variable(Module&)> compute;
  /// Registers the derived tensor in a fresh copy of the module.
  std::function<void(Module& copy)> repeat;
};

/// A function that sees the tensors of a result.
using ForwardObserver = std::function<void(const Module&, const variable_list& outputs)>;

struct ModuleHooks {
  std::uint64_t next_id = 1;
  HookList<PreHook> forward_pre, backward_pre;
  HookList<PostHook> forward, backward;
  /// They see results of a module of ebb even if it is called without hooks, by module->forward(x).
  HookList<ForwardObserver> observers;
  HookList<StateDictPreHook> state_pre;
  HookList<StateDictPostHook> state_post;
  HookList<LoadStateDictPreHook> load_pre;
  HookList<LoadStateDictPostHook> load_post;
  std::vector<DerivedTensor> derived;
  bool computed = false;  // a call of the module is running, so the derived tensors are up to date
};

/// Access to the private members of Module, for functions of nn.
struct ModuleAccess {
  static Module::StateDict& parameters(Module& m) { return m.parameters_; }
  static Module::StateDict& buffers(Module& m) { return m.buffers_; }
  static const Module::StateDict& parameters(const Module& m) { return m.parameters_; }
  static const Module::StateDict& buffers(const Module& m) { return m.buffers_; }
  static OrderedDict<std::string, std::shared_ptr<Module>>& children(Module& m) { return m.children_; }
  static TrainingFlag& training(Module& m) { return m.is_training_; }
  static const HooksPointer& hooks(const Module& m) { return m.hooks_; }
  static HooksPointer& hooks(Module& m) { return m.hooks_; }
};

/// Recomputes the module's derived tensors.
void recompute(Module& module);
/// Recomputes the module's derived tensors in evaluation mode, in which the power method makes no step.
void recompute_evaluated(Module& module);

/// Removes a parameter from the module's list and returns it. Throws if the module has no parameter `name`.
Variable take_parameter(Module& module, const std::string& name);
/// Adds a derived tensor. The next recompute() computes it.
void derive(Module& module, DerivedTensor derived);
bool is_derived(const Module& module, const std::string& name);
/// Makes a derived tensor a leaf again and returns its target. Copies `value` to the target. If `value` is
/// undefined, the target keeps its values.
Variable no_longer_derived(Module& module, const std::string& name, bool requires_grad,
                           const optional<Variable>& value = nullopt);

}  // namespace ebb::nn::detail
