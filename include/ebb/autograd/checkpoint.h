// Trading time for memory.
#pragma once

#include <ebb/autograd/variable.h>

#include <functional>

namespace ebb::autograd {

/// fn(inputs) without keeping what its backward needs: that is computed anew, from the inputs, when backward
/// first asks (Chen et al. 2016, arXiv:1604.06174; torch.utils.checkpoint with use_reentrant=False). Random
/// numbers are drawn again as they were, so dropout agrees. fn must be deterministic otherwise; gradients
/// reach everything that fn uses. Throws Error in backward where an input was written to in place since, by
/// fn or behind it: the numbers it had are gone.
EBB_API variable_list checkpoint(std::function<variable_list(const variable_list&)> fn,
                                 const variable_list& inputs);
EBB_API Variable checkpoint(std::function<Variable(const Variable&)> fn, const Variable& input);

}  // namespace ebb::autograd
