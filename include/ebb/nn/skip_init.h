// Modules without initial values, to be loaded.
#pragma once

#include <ebb/nn/module_holder.h>

#include <memory>
#include <utility>

namespace ebb::nn::utils {

/// While one lives, the functions of nn::init leave tensors as they are, in the thread that made it: modules
/// built meanwhile have uninitialised parameters and draw no random numbers. For what is loaded next, or
/// initialised later by reset_parameters(). What a module fills by other means it still fills (the running
/// statistics of a normalisation).
class EBB_API SkipInitGuard {
 public:
  SkipInitGuard();
  ~SkipInitGuard();
  SkipInitGuard(const SkipInitGuard&) = delete;
  SkipInitGuard& operator=(const SkipInitGuard&) = delete;

 private:
  bool previous_;
};

/// A module made from these arguments without initial values (torch.nn.utils.skip_init); of a handle, the
/// handle, and of any other class a std::shared_ptr to it:
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
