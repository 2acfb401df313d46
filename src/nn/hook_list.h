// HookList: the hooks of a module or an optimizer.
#pragma once

#include <ebb/core/error.h>
#include <ebb/nn/removable_handle.h>

#include "core/tape_state.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace ebb::nn::detail {

/// Pairs of an id and a hook, in the order in which the hooks run. RemovableHandle removes a hook by its id.
template <class Function>
using HookList = std::vector<std::pair<std::uint64_t, Function>>;

/// Registers or removes a hook as a setting of the program. A tape of a compiled function is replayed only
/// with the settings with which it was recorded.
inline void toggle_hook(const void* hooks, std::uint64_t id) noexcept {
  ebb::detail::toggle_setting(reinterpret_cast<std::uintptr_t>(hooks) * 0x9e3779b97f4a7c15u + id);
}

/// Adds a hook to the list `kList` of `hooks`. The hook's id is the next one of `hooks`.
template <auto kList, class Hooks, class Function>
RemovableHandle add_hook(const std::shared_ptr<Hooks>& hooks, Function hook, bool prepend = false) {
  EBB_CHECK(hook, "The hook is an empty function. Pass a function that can be called.");
  auto& list = (*hooks).*kList;
  list.emplace(prepend ? list.begin() : list.end(), hooks->next_id, std::move(hook));
  toggle_hook(hooks.get(), hooks->next_id);
  const auto drop = [](void* from, std::uint64_t id) {
    const auto dropped = std::erase_if((*static_cast<Hooks*>(from)).*kList,
                                       [&](const auto& each) { return each.first == id; });
    if (dropped != 0) toggle_hook(from, id);
  };
  return {hooks, drop, hooks->next_id++};
}

}  // namespace ebb::nn::detail
