// Calling a module with other parameters and buffers than its own (torch.func.functional_call).
#pragma once

#include <ebb/nn/module_holder.h>

#include <memory>

namespace ebb::nn {

namespace utils {

/// While it lives, the module's parameters and buffers of these names ("fc.weight") stand for the tensors
/// given, which results are differentiable by; then they are what they were. A tensor that modules share is
/// given by any one of its names. In-place writes, such as those to running statistics, go to the tensors
/// given. Names that the module lacks are left out; with `strict`, these, and those that are not given, are
/// an error. No other thread may use the module meanwhile.
class EBB_API SubstituteGuard {
 public:
  SubstituteGuard(Module& module, const Module::StateDict& tensors, bool strict = false);
  ~SubstituteGuard();
  SubstituteGuard(const SubstituteGuard&) = delete;
  SubstituteGuard& operator=(const SubstituteGuard&) = delete;

 private:
  struct Loans;
  std::unique_ptr<Loans> loans_;
};

}  // namespace utils

/// module(args...) with these tensors in place of the module's own (utils::SubstituteGuard):
///     auto y = nn::functional_call(net, weights, x);
template <class M, class... Args>
auto functional_call(M& module, const Module::StateDict& tensors, Args&&... args) {
  if constexpr (detail::Holder<M>) {
    const utils::SubstituteGuard guard(*module, tensors);
    return module(std::forward<Args>(args)...);
  } else {
    const utils::SubstituteGuard guard(module, tensors);
    return detail::call_module(module, std::forward<Args>(args)...);
  }
}

}  // namespace ebb::nn
