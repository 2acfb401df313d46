// The handle that registering a hook of a module or an optimizer returns.
#pragma once

#include <ebb/core/api.h>

#include <cstdint>
#include <memory>
#include <utility>

namespace ebb::nn {

/// torch.utils.hooks.RemovableHandle.
class EBB_API RemovableHandle {
 public:
  /// Takes the hook of that number out of the hooks that it is among.
  using Drop = void (*)(void* hooks, std::uint64_t id);

  RemovableHandle() = default;
  RemovableHandle(std::weak_ptr<void> hooks, Drop drop, std::uint64_t id)
      : hooks_(std::move(hooks)), drop_(drop), id_(id) {}
  /// Takes the hook away; does nothing the second time, or where the module or the optimizer is gone.
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
