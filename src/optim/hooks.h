// The hooks of an optimizer.
#pragma once

#include <ebb/optim/optimizer.h>

#include "nn/hook_list.h"

namespace ebb::optim {

struct Optimizer::Hooks {
  std::uint64_t next_id = 1;
  nn::detail::HookList<StepPreHook> step_pre;
  nn::detail::HookList<StepPostHook> step_post;
  nn::detail::HookList<StateDictPreHook> state_pre;
  nn::detail::HookList<StateDictPostHook> state_post;
  nn::detail::HookList<LoadStateDictPreHook> load_pre;
  nn::detail::HookList<LoadStateDictPostHook> load_post;
};

/// Calls the hooks of a list. A hook may register and remove hooks.
template <auto kList, class Hooks, class... Args>
void run_hooks(const std::shared_ptr<Hooks>& hooks, Args&... args) {
  if (!hooks || ((*hooks).*kList).empty()) return;
  const auto list = (*hooks).*kList;
  for (const auto& [id, hook] : list) hook(args...);
}

}  // namespace ebb::optim
