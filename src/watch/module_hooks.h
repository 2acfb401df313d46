// class_name, while_alive, remove_hooks: names of modules, and hooks that leave modules as they were.
#pragma once

#include <ebb/nn/module.h>

#include "nn/hooks.h"

#include <memory>
#include <string>
#include <vector>

namespace ebb::watch {

/// Returns the class of a module without its namespaces and the suffix of ebb's modules: "Conv2d".
inline std::string class_name(const nn::Module& module) {
  std::string name = module.name();
  if (name.ends_with("Impl")) name.resize(name.size() - 4);
  return name.substr(name.rfind(':', name.find('<')) + 1);
}

/// Returns a hook that calls a member function of `owner` while it exists. Copies of a module keep its hooks,
/// and their owner may end before them.
template <class Owner, class... Args>
auto while_alive(const std::shared_ptr<Owner>& owner, void (Owner::*function)(Args...)) {
  return [weak = std::weak_ptr<Owner>(owner), function](Args... args) {
    if (const auto alive = weak.lock()) ((*alive).*function)(args...);
  };
}

/// Removes hooks from the modules of a tree. Calls of modules without hooks then have no further cost.
inline void remove_hooks(nn::Module& root, std::vector<nn::RemovableHandle>& handles) {
  for (nn::RemovableHandle& handle : handles) handle.remove();
  root.apply([](nn::Module& module) { nn::detail::ModuleAccess::hooks(module).reset_if_unused(); });
}

}  // namespace ebb::watch
