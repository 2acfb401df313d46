// Temporarily replaces the tensor that a handle refers to. Parametrizations and functional_call use it on the
// parameters of a module, because the members of a module's class cannot be replaced from outside the class.
#pragma once

#include <ebb/autograd/variable.h>

#include "autograd/meta.h"

namespace ebb::autograd {

/// Returns whether the handle currently refers to another tensor. Nodes then save that tensor
/// (SavedVariable).
inline bool is_swapped(const Variable& x) {
  const AutogradMeta* const meta = meta_slot(*x.impl()).load(std::memory_order_acquire);
  return meta && meta->swapped;
}

/// Ends the errors of backward passes that need the tensor which a swapped handle referred to before.
inline constexpr const char* kOutsideOfSwap =
    "Call backward() before functional_call or a SubstituteGuard replaces the parameters of a module, or "
    "after "
    "it has restored them.";

/// Returns a new handle of the tensor that a swapped handle currently refers to.
Variable current_tensor(const Variable& swapped);

/// Makes `target`, and all handles that share its implementation, refer to the data and history of `value`.
/// Nodes recorded before keep the previous tensor.
void swap_tensor(const Variable& target, const Variable& value);

/// Makes a swapped handle a leaf with the data of `value`.
void restore_leaf(const Variable& target, const Variable& value, bool requires_grad);

/// Swaps the tensor of `target` for a scope, and restores it at the end.
class ScopedSwap {
 public:
  ScopedSwap(Variable target, const Variable& value);
  ~ScopedSwap();
  ScopedSwap(const ScopedSwap&) = delete;
  ScopedSwap& operator=(const ScopedSwap&) = delete;

 private:
  void restore();

  Variable target_;
  NdArray data_;
  Ref<Node> grad_fn_;
  AutogradMeta* meta_;
  std::uint32_t output_nr_;
  bool requires_grad_, inference_;
};

}  // namespace ebb::autograd
