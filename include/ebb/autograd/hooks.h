// Hooks on tensors and nodes.
#pragma once

#include <ebb/autograd/node.h>

#include <functional>
#include <type_traits>
#include <vector>

namespace ebb {

namespace autograd {

/// A hook that gets the gradient and returns its replacement, or an undefined Variable to keep the gradient.
using TensorHook = std::function<Variable(const Variable&)>;
EBB_API unsigned add_tensor_hook(const Variable& x, TensorHook hook);

using NodePreHook = std::function<variable_list(const variable_list& grad_outputs)>;
using NodePostHook =
    std::function<variable_list(const variable_list& grad_inputs, const variable_list& grad_outputs)>;
/// Adds a hook that runs before the node's apply(). If it returns an empty list, the gradients do not change.
/// Returns a handle.
EBB_API unsigned add_pre_hook(Node& node, NodePreHook hook);
/// Adds a hook that runs after the node's apply(). If it returns an empty list, the gradients do not change.
/// Returns a handle.
EBB_API unsigned add_post_hook(Node& node, NodePostHook hook);
EBB_API void remove_node_hook(Node& node, unsigned handle);

}  // namespace autograd

template <class Hook>
unsigned Variable::register_hook(Hook&& hook) const {
  if constexpr (std::is_void_v<std::invoke_result_t<Hook&, const Variable&>>)
    return autograd::add_tensor_hook(*this, [h = std::forward<Hook>(hook)](const Variable& grad) mutable {
      h(grad);
      return Variable();
    });
  else
    return autograd::add_tensor_hook(*this, std::forward<Hook>(hook));
}

}  // namespace ebb
