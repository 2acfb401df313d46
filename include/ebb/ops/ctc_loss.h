// Connectionist temporal classification.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/ops/loss.h>

namespace ebb {

/// -log of the probability of a target's labels under all alignments to a longer sequence, in which labels
/// may repeat and blanks stand between them. log_probs is (T, N, C), or (T, C) of one sequence, Float or
/// Double, the logarithms of probabilities (log_softmax); targets are Long or Int, (N, S) or one after
/// another (sum of target_lengths), below C and not the blank. Sample n has input_lengths[n] steps and
/// target_lengths[n] labels. Mean divides each loss by its target's length (at least 1) first. A target
/// without alignment loses infinity, or with zero_infinity 0, and so its gradient.
///
/// The gradient is torch's, exp(log_probs) minus the posterior of each class: that of the scores below a
/// log_softmax, which it passes unchanged. Differentiating it throws NotImplementedError. Lengths that are
/// tensors are read by the host: a captured graph takes them as lists or from the CPU. (torch.ctc_loss;
/// Graves et al. 2006.)
EBB_API Variable ctc_loss(const Variable& log_probs, const Variable& targets, IntArrayRef input_lengths,
                          IntArrayRef target_lengths, std::int64_t blank = 0,
                          std::int64_t reduction = Reduction::Mean, bool zero_infinity = false);
EBB_API Variable ctc_loss(const Variable& log_probs, const Variable& targets, const Variable& input_lengths,
                          const Variable& target_lengths, std::int64_t blank = 0,
                          std::int64_t reduction = Reduction::Mean, bool zero_infinity = false);

}  // namespace ebb
