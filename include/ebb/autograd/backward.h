// backward() and grad(): the entry points of the engine.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb::autograd {

/// Adds d(sum_i <roots_i, seeds_i>)/d(leaf) to the .grad of every leaf of the graph
/// (torch.autograd.backward). An undefined or missing seed counts as 1 if the root has one element, and
/// throws otherwise. The graph's saved tensors are freed unless retain_graph is true (default: create_graph).
/// With create_graph the gradients can be differentiated again. If `inputs` is not empty, only those tensors
/// accumulate. Errors contain the file and line of the call.
EBB_API void backward(const variable_list& roots, const variable_list& seeds = {},
                      optional<bool> retain_graph = nullopt, bool create_graph = false,
                      const variable_list& inputs = {}, CallSite called = CallSite::current());

/// Returns d(sum_i <outputs_i, seeds_i>)/d(inputs) and changes no .grad (torch.autograd.grad). Throws if the
/// outputs do not depend on one of the inputs. With allow_unused, the gradient of such an input is undefined
/// instead.
EBB_API variable_list grad(const variable_list& outputs, const variable_list& inputs,
                           const variable_list& grad_outputs = {}, optional<bool> retain_graph = nullopt,
                           bool create_graph = false, bool allow_unused = false);

}  // namespace ebb::autograd
