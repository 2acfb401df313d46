// Traversals of the module tree: apply, train, zero_grad, parameters, modules and others.
#include "core/messages.h"
#include "nn/walk.h"

#include <unordered_set>
#include <utility>

namespace ebb::nn {

namespace {

std::string join(const std::string& path, const std::string& name) {
  return path.empty() ? name : path + "." + name;
}

// Splits "a.b.c" into the path of a module, "a.b", and the name in it, "c".
std::pair<std::string, std::string> split(const std::string& target) {
  const std::size_t dot = target.rfind('.');
  if (dot == std::string::npos) return {{}, target};
  return {target.substr(0, dot), target.substr(dot + 1)};
}

constexpr int kDeepest = 256;  // the maximum number of nested calls of pass_down()

/// The state of pass_down() in this thread: the depth of nested calls, and the call that `module` must not
/// pass to its children, because the loop in pass_down() has already called them.
struct PassDownState {
  int depth = 0;
  const Module* module = nullptr;
  int call = 0;
  bool argument = false;
};
constinit thread_local PassDownState pass_down_state;

// The tensors that a traversal has visited. Modules may share tensors.
class VisitedTensors {
 public:
  /// Returns whether x is defined and is visited for the first time.
  bool first(const Variable& x) { return x.defined() && visited_.insert(x.impl()).second; }

 private:
  std::unordered_set<const VariableImpl*> visited_;
};

}  // namespace

// Passes a virtual call (train, zero_grad) on to the children. A class may override the call for its subtree,
// so each module calls its own children. The recursion ends after kDeepest nested calls, because deeper
// recursion could overflow the stack. The module at that depth calls all modules of its subtree in a loop,
// children before their parents.
void Module::pass_down(Call call, bool argument) {
  if (pass_down_state.module == this && pass_down_state.call == static_cast<int>(call) &&
      pass_down_state.argument == argument) {
    pass_down_state.module = nullptr;
    return;
  }
  const auto pass_to = [&](Module& module) {
    if (call == Call::train)
      module.train(argument);
    else
      module.zero_grad(argument);
  };
  const struct Restore {
    PassDownState outer = pass_down_state;
    ~Restore() { pass_down_state = outer; }
  } restore;
  ++pass_down_state.depth;
  pass_down_state.module = nullptr;
  if (pass_down_state.depth < kDeepest) {
    for (auto& child : children_) pass_to(*child.value());
    return;
  }
  std::vector<std::shared_ptr<Module>> below;
  walk({}, [&](const std::string&, const std::shared_ptr<Module>& m) { below.push_back(m); });
  for (std::size_t i = below.size(); i-- > 0;) {
    pass_down_state.module = below[i].get();
    pass_down_state.call = static_cast<int>(call);
    pass_down_state.argument = argument;
    pass_to(*below[i]);
  }
}

std::shared_ptr<Module> Module::shared_from_this_checked() const {
  auto self = std::const_pointer_cast<Module>(weak_from_this().lock());
  EBB_CHECK(
      self != nullptr,
      "It looks like you attempted to retrieve your top-level module as a shared_ptr, but it is not stored "
      "in "
      "a shared_ptr. Use std::make_shared<",
      name(),
      "> instead of creating your module on the stack, or alternatively do not try to access your top-level "
      "module at all by passing /*include_self=*/false to modules() or named_modules()");
  return self;
}

void Module::apply(const ModuleApplyFunction& function) {
  function(*this);
  walk({}, [&](const std::string&, const std::shared_ptr<Module>& m) { function(*m); });
}

void Module::apply(const ConstModuleApplyFunction& function) const {
  function(*this);
  walk({}, [&](const std::string&, const std::shared_ptr<Module>& m) { function(*m); });
}

void Module::apply(const NamedModuleApplyFunction& function, const std::string& prefix) {
  function(prefix, *this);
  walk(prefix, [&](const std::string& path, const std::shared_ptr<Module>& m) { function(path, *m); });
}

void Module::apply(const ConstNamedModuleApplyFunction& function, const std::string& prefix) const {
  function(prefix, *this);
  walk(prefix, [&](const std::string& path, const std::shared_ptr<Module>& m) { function(path, *m); });
}

void Module::apply(const ModulePointerApplyFunction& function) const {
  function(shared_from_this_checked());
  walk({}, [&](const std::string&, const std::shared_ptr<Module>& m) { function(m); });
}

void Module::apply(const NamedModulePointerApplyFunction& function, const std::string& prefix) const {
  function(prefix, shared_from_this_checked());
  walk(prefix, [&](const std::string& path, const std::shared_ptr<Module>& m) { function(path, m); });
}

std::shared_ptr<Module> Module::get_submodule(const std::string& target) const {
  if (target.empty()) return shared_from_this_checked();
  const Module* above = this;
  std::shared_ptr<Module> found;
  for (std::size_t begin = 0, end = 0; end != std::string::npos; begin = end + 1) {
    end = target.find('.', begin);
    const std::string child = target.substr(begin, end == std::string::npos ? end : end - begin);
    const std::shared_ptr<Module>* const next = above->children_.find(child);
    EBB_CHECK(next, "get_submodule: ", name(), " has no module \"", target, "\"",
              ebb::detail::near_names(target, named_modules({}, false).keys()), ".");
    found = *next;
    above = found.get();
  }
  return found;
}

Variable Module::get_parameter(const std::string& target) const {
  const auto [owner, tensor] = split(target);
  const Module& module = owner.empty() ? *this : *get_submodule(owner);
  const Variable* const found = module.parameters_.find(tensor);
  EBB_CHECK(found && found->defined(), "get_parameter: ", name(), " has no parameter \"", target, "\"",
            ebb::detail::near_names(target, named_parameters().keys()), ".");
  return *found;
}

Variable Module::get_buffer(const std::string& target) const {
  const auto [owner, tensor] = split(target);
  const Module& module = owner.empty() ? *this : *get_submodule(owner);
  const Variable* const found = module.buffers_.find(tensor);
  EBB_CHECK(found && found->defined(), "get_buffer: ", name(), " has no buffer \"", target, "\"",
            ebb::detail::near_names(target, named_buffers().keys()), ".");
  return *found;
}

Module::StateDict Module::named_parameters(bool recurse) const {
  StateDict out;
  VisitedTensors seen;
  const auto add = [&](const std::string& path, const Module& m) {
    for (const auto& parameter : m.parameters_)
      if (seen.first(*parameter)) out.insert(join(path, parameter.key()), *parameter);
  };
  add({}, *this);
  if (recurse) walk({}, [&](const std::string& path, const std::shared_ptr<Module>& m) { add(path, *m); });
  return out;
}

std::vector<Variable> Module::parameters(bool recurse) const {
  std::vector<Variable> out;
  VisitedTensors seen;
  const auto add = [&](const Module& m) {
    for (const auto& parameter : m.parameters_)
      if (seen.first(*parameter)) out.push_back(*parameter);
  };
  add(*this);
  if (recurse) walk({}, [&](const std::string&, const std::shared_ptr<Module>& m) { add(*m); });
  return out;
}

Module::StateDict Module::named_buffers(bool recurse) const {
  StateDict out;
  VisitedTensors seen;
  const auto add = [&](const std::string& path, const Module& m) {
    for (const auto& buffer : m.buffers_)
      if (seen.first(*buffer)) out.insert(join(path, buffer.key()), *buffer);
  };
  add({}, *this);
  if (recurse) walk({}, [&](const std::string& path, const std::shared_ptr<Module>& m) { add(path, *m); });
  return out;
}

std::vector<Variable> Module::buffers(bool recurse) const {
  std::vector<Variable> out;
  VisitedTensors seen;
  const auto add = [&](const Module& m) {
    for (const auto& buffer : m.buffers_)
      if (seen.first(*buffer)) out.push_back(*buffer);
  };
  add(*this);
  if (recurse) walk({}, [&](const std::string&, const std::shared_ptr<Module>& m) { add(*m); });
  return out;
}

std::vector<std::shared_ptr<Module>> Module::modules(bool include_self) const {
  std::vector<std::shared_ptr<Module>> out;
  if (include_self) out.push_back(shared_from_this_checked());
  walk({}, [&](const std::string&, const std::shared_ptr<Module>& m) { out.push_back(m); });
  return out;
}

OrderedDict<std::string, std::shared_ptr<Module>> Module::named_modules(const std::string& prefix,
                                                                        bool include_self) const {
  OrderedDict<std::string, std::shared_ptr<Module>> out;
  if (include_self) out.insert(prefix, shared_from_this_checked());
  walk(prefix, [&](const std::string& path, const std::shared_ptr<Module>& m) { out.insert(path, m); });
  return out;
}

std::vector<std::shared_ptr<Module>> Module::children() const { return children_.values(); }

OrderedDict<std::string, std::shared_ptr<Module>> Module::named_children() const { return children_; }

}  // namespace ebb::nn
