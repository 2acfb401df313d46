// Lists of hooks, of modules and of optimizers.
#pragma once

#include <ebb/core/error.h>
#include <ebb/nn/removable_handle.h>

#include "core/fingerprint.h"

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

namespace ebb::nn::detail {

/// Hooks with the numbers by which they are removed, in the order in which they run.
template <class Function>
using HookList = std::vector<std::pair<std::uint64_t, Function>>;

/// A hook is a setting of the program, which tapes of compiled functions belong to.
inline void toggle_hook(const void* hooks, std::uint64_t id) noexcept {
  ebb::detail::toggle_setting(reinterpret_cast<std::uintptr_t>(hooks) * 0x9e3779b97f4a7c15u + id);
}

/// Adds a hook to the list `kList` of `hooks`, which counts all of its hooks by `next_id`.
template <auto kList, class Hooks, class Function>
RemovableHandle add_hook(const std::shared_ptr<Hooks>& hooks, Function hook, bool prepend = false) {
  EBB_CHECK(hook, "A hook is an empty function. Give it one that can be called.");
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
