// Random counts. On the CPU, manual_seed(s) gives the numbers that torch gives after torch.manual_seed(s).
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/random.h>

namespace ebb {

/// Poisson numbers of these rates, in their floating dtype; the gradient is zero (torch.poisson). Throws for
/// a negative rate.
EBB_API Variable poisson(const Variable& self, const optional<Generator>& generator = nullopt);
/// How many of count[i] trials succeed with probability prob[i], in their floating dtype; both broadcast, the
/// gradients are zero (torch.binomial). Counts are taken as 0 below it, probabilities as 0 and 1 beyond them.
EBB_API Variable binomial(const Variable& count, const Variable& prob,
                          const optional<Generator>& generator = nullopt);

}  // namespace ebb
