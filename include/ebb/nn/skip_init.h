// skip_init: creates modules without initializing their parameters.
#pragma once

#include <ebb/nn/module_holder.h>

#include <memory>
#include <utility>

namespace ebb::nn::utils {

/// In the scope of this guard, the functions of nn::init do nothing on the thread that created it. Modules
/// created in this scope have uninitialized parameters and draw no random numbers. Use it for modules that
/// are loaded next, or initialized later with reset_parameters(). Values that a module sets without nn::init,
/// such as the running statistics of a normalization, are still set.
class EBB_API SkipInitGuard {
 public:
  SkipInitGuard();
  ~SkipInitGuard();
  SkipInitGuard(const SkipInitGuard&) = delete;
  SkipInitGuard& operator=(const SkipInitGuard&) = delete;

 private:
  bool previous_;
};

/// Creates a module from these arguments without initialization (torch.nn.utils.skip_init). If M is a handle,
/// returns the handle, and otherwise a std::shared_ptr:
///     auto net = nn::utils::skip_init<Net>(1000);
///     load(net, "net.safetensors");
template <class M, class... Args>
auto skip_init(Args&&... args) {
  const SkipInitGuard guard;
  if constexpr (nn::detail::Holder<M>)
    return M(std::forward<Args>(args)...);
  else
    return std::make_shared<M>(std::forward<Args>(args)...);
}

}  // namespace ebb::nn::utils
