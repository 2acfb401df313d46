// RemovableHandle: removes a registered hook of a module or an optimizer.
#pragma once

#include <ebb/core/api.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace ebb::nn {

/// The handle of a hook (torch.utils.hooks.RemovableHandle).
class EBB_API RemovableHandle {
 public:
  /// Removes the hook with this id from `hooks`.
  using Drop = void (*)(void* hooks, std::uint64_t id);

  RemovableHandle() = default;
  RemovableHandle(std::weak_ptr<void> hooks, Drop drop, std::uint64_t id)
      : hooks_(std::move(hooks)), drop_(drop), id_(id) {}
  /// Removes the hook. Does nothing if it is already removed or the module or optimizer is destroyed.
  void remove() {
    if (const std::shared_ptr<void> hooks = hooks_.lock()) drop_(hooks.get(), id_);
    hooks_.reset();
  }
  std::uint64_t id() const noexcept { return id_; }

 private:
  std::weak_ptr<void> hooks_;
  Drop drop_ = nullptr;
  std::uint64_t id_ = 0;
};

}  // namespace ebb::nn
