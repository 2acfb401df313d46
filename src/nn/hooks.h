// What a module's hooks are kept in, and what nn reaches of a module.
#pragma once

#include <ebb/nn/module.h>

#include "nn/hook_list.h"

#include <utility>
#include <vector>

namespace ebb::nn::detail {

/// A tensor of a module that is computed from others before each call: a weight from its parametrization.
struct DerivedTensor {
  std::string name;
  Variable target;  // what the module's member is a handle of
  std::function<Variable(Module&)> compute;
  /// Makes it of another module, a fresh copy of the one it belongs to.
  std::function<void(Module& copy)> repeat;
};

struct ModuleHooks {
  std::uint64_t next_id = 1;
  HookList<PreHook> forward_pre, backward_pre;
  HookList<PostHook> forward, backward;
  HookList<StateDictPreHook> state_pre;
  HookList<StateDictPostHook> state_post;
  HookList<LoadStateDictPreHook> load_pre;
  HookList<LoadStateDictPostHook> load_post;
  std::vector<DerivedTensor> derived;
  bool computed = false;  // derived tensors are those of the call under way
};

/// What Module keeps from others.
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

/// Computes the module's derived tensors anew.
void recompute(Module& module);
/// The same as in evaluation: without a step of a power method.
void recompute_evaluated(Module& module);

/// Takes a parameter off the module's list. Throws if there is none of that name.
Variable take_parameter(Module& module, const std::string& name);
/// Adds a derived tensor, which the next recompute() computes.
void derive(Module& module, DerivedTensor derived);
bool is_derived(const Module& module, const std::string& name);
/// The target of a derived tensor, which is a leaf again, with the numbers it has, or with others.
Variable no_longer_derived(Module& module, const std::string& name, bool requires_grad,
                           const optional<Variable>& value = nullopt);

}  // namespace ebb::nn::detail
