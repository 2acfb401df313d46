// Activation checkpointing: recomputes activations in backward to save memory.
#pragma once

#include <ebb/autograd/variable.h>

#include <functional>

namespace ebb::autograd {

/// Returns fn(inputs) without saving tensors for backward. When backward first needs them, runs fn again on
/// the inputs (Chen et al. 2016, arXiv:1604.06174; torch.utils.checkpoint with use_reentrant=False). The
/// second run draws the same random numbers, so dropout uses the same masks. In all other respects fn must be
/// deterministic. Gradients reach every tensor that fn uses. If fn or other code wrote to an input in place
/// after the first run had read it, the second run would read other values. Backward then throws Error.
EBB_API variable_list checkpoint(std::function<variable_list(const variable_list&)> fn,
                                 const variable_list& inputs);
EBB_API Variable checkpoint(std::function<Variable(const Variable&)> fn, const Variable& input);

}  // namespace ebb::autograd
