// functional_call: calls a module with parameters and buffers other than its own
// (torch.func.functional_call).
#pragma once

#include <ebb/nn/module_holder.h>

#include <memory>

namespace ebb::nn {

namespace utils {

/// In the scope of this guard, the given tensors replace the module's parameters and buffers with the same
/// names ("fc.weight"). Results are differentiable with respect to these tensors. The end of the scope
/// restores the module's own tensors. A tensor that several modules share may be given by any of its names.
/// In-place writes, for example to running statistics, change the given tensors. Names that the module does
/// not have are ignored. With `strict`, such names and missing names are errors. No other thread may use the
/// module during the scope. backward() of a graph that needs the module's own tensors throws in the scope.
class EBB_API SubstituteGuard {
 public:
  SubstituteGuard(Module& module, const Module::StateDict& tensors, bool strict = false);
  ~SubstituteGuard();
  SubstituteGuard(const SubstituteGuard&) = delete;
  SubstituteGuard& operator=(const SubstituteGuard&) = delete;

 private:
  struct Swaps;
  std::unique_ptr<Swaps> swaps_;
};

}  // namespace utils

/// Returns module(args...), with the given tensors in place of the module's own tensors
/// (utils::SubstituteGuard):
///   auto y = nn::functional_call(net, weights, x);
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
