// while_alive, remove_hooks: hooks that leave modules as they were.
#pragma once

#include <ebb/nn/module.h>

#include "nn/hooks.h"

#include <memory>
#include <vector>

namespace ebb::watch {

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
