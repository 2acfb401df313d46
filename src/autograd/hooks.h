// The hooks that the engine runs: of nodes, of saved tensors, and the retained gradients of tensors.
#pragma once

#include <ebb/autograd/node.h>
#include <ebb/autograd/saved_variable.h>

namespace ebb::autograd {

/// Runs the hooks of the node's outputs in the order of registration, then stores the retained gradients.
void run_tensor_hooks(Node& node, GradList& grads);
void run_pre_hooks(Node& node, GradList& grads);
void run_post_hooks(Node& node, GradList& results, const GradList& grads);

/// Runs the innermost pack hook. The result refers to the matching unpack hook.
std::shared_ptr<void> pack_saved(const Variable& x);
Variable unpack_saved(const std::shared_ptr<void>& packed);

/// Called before x's history becomes `node`: if x retains its gradient, the new node stores it from now on.
void move_retained_grad(const Variable& x, Node* node);
/// Called when x is destroyed or no longer retains its gradient.
void drop_retained_grad(VariableImpl& impl);

}  // namespace ebb::autograd
