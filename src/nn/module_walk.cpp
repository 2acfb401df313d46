// Walks over the tree of modules, and the lists they give.
#include <ebb/nn/module.h>

namespace ebb::nn {

namespace {

std::string join(const std::string& prefix, const std::string& name) {
  return prefix.empty() ? name : prefix + "." + name;
}

/// Calls visit(path, module) for everything below `module`, parents first.
template <class M, class Visit>
void walk_children(M& module, const std::string& prefix, const Visit& visit) {
  for (const auto& child : module.named_children()) {
    const std::string path = join(prefix, child.key());
    visit(path, child.value());
    walk_children(*child.value(), path, visit);
  }
}

}  // namespace

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
  walk_children(*this, {}, [&](const std::string&, const std::shared_ptr<Module>& m) { function(*m); });
}

void Module::apply(const ConstModuleApplyFunction& function) const {
  function(*this);
  walk_children(*this, {}, [&](const std::string&, const std::shared_ptr<Module>& m) { function(*m); });
}

void Module::apply(const NamedModuleApplyFunction& function, const std::string& prefix) {
  function(prefix, *this);
  walk_children(*this, prefix,
                [&](const std::string& path, const std::shared_ptr<Module>& m) { function(path, *m); });
}

void Module::apply(const ConstNamedModuleApplyFunction& function, const std::string& prefix) const {
  function(prefix, *this);
  walk_children(*this, prefix,
                [&](const std::string& path, const std::shared_ptr<Module>& m) { function(path, *m); });
}

void Module::apply(const ModulePointerApplyFunction& function) const {
  function(shared_from_this_checked());
  walk_children(*this, {}, [&](const std::string&, const std::shared_ptr<Module>& m) { function(m); });
}

void Module::apply(const NamedModulePointerApplyFunction& function, const std::string& prefix) const {
  function(prefix, shared_from_this_checked());
  walk_children(*this, prefix,
                [&](const std::string& path, const std::shared_ptr<Module>& m) { function(path, m); });
}

Module::StateDict Module::named_parameters(bool recurse) const {
  StateDict out;
  for (const auto& parameter : parameters_)
    if (parameter->defined()) out.insert(parameter.key(), *parameter);
  if (recurse)
    walk_children(*this, {}, [&](const std::string& path, const std::shared_ptr<Module>& m) {
      for (const auto& parameter : m->parameters_)
        if (parameter->defined()) out.insert(join(path, parameter.key()), *parameter);
    });
  return out;
}

std::vector<Variable> Module::parameters(bool recurse) const { return named_parameters(recurse).values(); }

Module::StateDict Module::named_buffers(bool recurse) const {
  StateDict out;
  for (const auto& buffer : buffers_)
    if (buffer->defined()) out.insert(buffer.key(), *buffer);
  if (recurse)
    walk_children(*this, {}, [&](const std::string& path, const std::shared_ptr<Module>& m) {
      for (const auto& buffer : m->buffers_)
        if (buffer->defined()) out.insert(join(path, buffer.key()), *buffer);
    });
  return out;
}

std::vector<Variable> Module::buffers(bool recurse) const { return named_buffers(recurse).values(); }

std::vector<std::shared_ptr<Module>> Module::modules(bool include_self) const {
  std::vector<std::shared_ptr<Module>> out;
  if (include_self) out.push_back(shared_from_this_checked());
  walk_children(*this, {}, [&](const std::string&, const std::shared_ptr<Module>& m) { out.push_back(m); });
  return out;
}

OrderedDict<std::string, std::shared_ptr<Module>> Module::named_modules(const std::string& prefix,
                                                                        bool include_self) const {
  OrderedDict<std::string, std::shared_ptr<Module>> out;
  if (include_self) out.insert(prefix, shared_from_this_checked());
  walk_children(*this, prefix,
                [&](const std::string& path, const std::shared_ptr<Module>& m) { out.insert(path, m); });
  return out;
}

std::vector<std::shared_ptr<Module>> Module::children() const { return children_.values(); }

OrderedDict<std::string, std::shared_ptr<Module>> Module::named_children() const { return children_; }

}  // namespace ebb::nn
