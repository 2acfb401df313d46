// Keeping the gradient of a tensor that is not a leaf.
#pragma once

#include <ebb/autograd/node.h>

namespace ebb::autograd {

/// x's history is about to become `node`: if x keeps its gradient, the new node does it from now on.
void move_retained_grad(const Variable& x, Node* node);
/// x goes away, or no longer keeps its gradient.
void drop_retained_grad(VariableImpl& impl);

}  // namespace ebb::autograd
