// Dropout: zeroes at random and scales the rest so that the expectation stays (Srivastava et al. 2014).
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

/// x * mask / (1 - p), where the mask is 0 with probability p; x itself when `train` is false or p is 0.
/// Throws unless 0 <= p <= 1 (torch.dropout).
EBB_API Variable dropout(const Variable& x, double p, bool train);
EBB_API Variable& dropout_(const Variable& self, double p, bool train);
/// The same with one draw for each of the first two dimensions: whole channels are dropped
/// (torch.feature_dropout). With `train` it throws for fewer than two dimensions.
EBB_API Variable feature_dropout(const Variable& x, double p, bool train);
EBB_API Variable& feature_dropout_(const Variable& self, double p, bool train);
/// Keeps mean 0 and variance 1 of self-normalising networks: dropped elements take SELU's negative limit
/// (Klambauer et al. 2017; torch.alpha_dropout).
EBB_API Variable alpha_dropout(const Variable& x, double p, bool train);
EBB_API Variable& alpha_dropout_(const Variable& self, double p, bool train);
EBB_API Variable feature_alpha_dropout(const Variable& x, double p, bool train);
EBB_API Variable& feature_alpha_dropout_(const Variable& self, double p, bool train);

}  // namespace ebb
