// Running the hooks of a node.
#pragma once

#include <ebb/autograd/node.h>

namespace ebb::autograd {

/// Hooks of the node's outputs, in the order of registration, then the outputs' kept gradients.
void run_tensor_hooks(Node& node, GradList& grads);
void run_pre_hooks(Node& node, GradList& grads);
void run_post_hooks(Node& node, GradList& results, const GradList& grads);

}  // namespace ebb::autograd
