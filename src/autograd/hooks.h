// Hooks as the engine runs them: of nodes, of saved tensors, and the gradients that tensors keep.
#pragma once

#include <ebb/autograd/node.h>
#include <ebb/autograd/saved_variable.h>

namespace ebb::autograd {

/// Hooks of the node's outputs, in the order of registration, then the outputs' kept gradients.
void run_tensor_hooks(Node& node, GradList& grads);
void run_pre_hooks(Node& node, GradList& grads);
void run_post_hooks(Node& node, GradList& results, const GradList& grads);

/// Runs the innermost pack hook; the result remembers which unpack hook belongs to it.
std::shared_ptr<void> pack_saved(const Variable& x);
Variable unpack_saved(const std::shared_ptr<void>& packed);

/// x's history is about to become `node`: if x keeps its gradient, the new node does it from now on.
void move_retained_grad(const Variable& x, Node* node);
/// x goes away, or no longer keeps its gradient.
void drop_retained_grad(VariableImpl& impl);

}  // namespace ebb::autograd
