// Loss functions. `reduction` is Reduction::None (one value for each element), Mean or Sum.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

/// The reduction of a loss (torch: at::Reduction).
namespace Reduction {
enum Reduction { None, Mean, Sum, END };
}  // namespace Reduction

/// (x - y)^2. Shapes broadcast, also in the three functions that follow.
EBB_API Variable mse_loss(const Variable& self, const Variable& target,
                          std::int64_t reduction = Reduction::Mean);
/// |x - y|.
EBB_API Variable l1_loss(const Variable& self, const Variable& target,
                         std::int64_t reduction = Reduction::Mean);
/// For d = |x - y|: d^2 / (2 beta) if d < beta, otherwise d - beta / 2. beta = 0 gives l1_loss; negative beta
/// throws.
EBB_API Variable smooth_l1_loss(const Variable& self, const Variable& target,
                                std::int64_t reduction = Reduction::Mean, double beta = 1.0);
/// For d = |x - y|: d^2 / 2 if d <= delta, otherwise delta (d - delta / 2). delta must be positive (Huber
/// 1964).
EBB_API Variable huber_loss(const Variable& self, const Variable& target,
                            std::int64_t reduction = Reduction::Mean, double delta = 1.0);
/// log(1 + exp(-y x)) for labels y of 1 and -1.
EBB_API Variable soft_margin_loss(const Variable& self, const Variable& target,
                                  std::int64_t reduction = Reduction::Mean);

/// -w (y log x + (1 - y) log(1 - x)) for probabilities x; the logarithms are clamped at -100. Shapes must be
/// equal except for dimensions of size 1: a target (N) matches an input (N, 1), element by element. The
/// result has the input's shape, and `weight` broadcasts to it. Throws for x outside [0, 1] on the CPU.
EBB_API Variable binary_cross_entropy(const Variable& self, const Variable& target,
                                      const optional<Variable>& weight = {},
                                      std::int64_t reduction = Reduction::Mean);
/// binary_cross_entropy of sigmoid(x), without overflow. `pos_weight` scales the terms of positive labels.
EBB_API Variable binary_cross_entropy_with_logits(const Variable& self, const Variable& target,
                                                  const optional<Variable>& weight = {},
                                                  const optional<Variable>& pos_weight = {},
                                                  std::int64_t reduction = Reduction::Mean);
/// y (log y - x) for log-probabilities x; 0 where y = 0. With log_target: exp(y) (y - x).
EBB_API Variable kl_div(const Variable& self, const Variable& target,
                        std::int64_t reduction = Reduction::Mean, bool log_target = false);
/// exp(x) - y x with log_input, otherwise x - y log(x + eps). `full` adds Stirling's approximation y log y -
/// y + log(2 pi y) / 2 where y > 1.
EBB_API Variable poisson_nll_loss(const Variable& input, const Variable& target, bool log_input, bool full,
                                  double eps, std::int64_t reduction);

/// -w_t x_t, where t is the target class. x is (N, C) with t (N), or (C) with a single t. Targets are Long
/// (or Byte). Targets equal to ignore_index are ignored. The mean is the sum of the losses divided by the sum
/// of w_t over the targets that are not ignored. It is NaN if all targets are ignored. Throws for a target
/// outside [0, C).
EBB_API Variable nll_loss(const Variable& self, const Variable& target, const optional<Variable>& weight = {},
                          std::int64_t reduction = Reduction::Mean, std::int64_t ignore_index = -100);
/// nll_loss for x (N, C, H, W) and t (N, H, W).
EBB_API Variable nll_loss2d(const Variable& self, const Variable& target,
                            const optional<Variable>& weight = {}, std::int64_t reduction = Reduction::Mean,
                            std::int64_t ignore_index = -100);
/// nll_loss for x (N, C, d1, d2, ...) and t (N, d1, d2, ...).
EBB_API Variable nll_loss_nd(const Variable& self, const Variable& target,
                             const optional<Variable>& weight = {}, std::int64_t reduction = Reduction::Mean,
                             std::int64_t ignore_index = -100);
/// -sum_c w_c y_c log softmax(x)_c along dimension 1 (0 for a single sample). The target contains classes, as
/// in nll_loss_nd, or probabilities, with x's shape and a floating dtype. `label_smoothing` is the weight of
/// the uniform distribution that is mixed into the target.
EBB_API Variable cross_entropy_loss(const Variable& self, const Variable& target,
                                    const optional<Variable>& weight = {},
                                    std::int64_t reduction = Reduction::Mean,
                                    std::int64_t ignore_index = -100, double label_smoothing = 0.0);

/// x if y = 1, max(0, margin - x) if y = -1.
EBB_API Variable hinge_embedding_loss(const Variable& self, const Variable& target, double margin = 1.0,
                                      std::int64_t reduction = Reduction::Mean);
/// max(0, -y (x1 - x2) + margin).
EBB_API Variable margin_ranking_loss(const Variable& input1, const Variable& input2, const Variable& target,
                                     double margin = 0.0, std::int64_t reduction = Reduction::Mean);
/// max(0, |a - p|_p - |a - n|_p + margin). With `swap`, |p - n| replaces |a - n| if it is smaller.
EBB_API Variable triplet_margin_loss(const Variable& anchor, const Variable& positive,
                                     const Variable& negative, double margin = 1.0, double p = 2.0,
                                     double eps = 1e-6, bool swap = false,
                                     std::int64_t reduction = Reduction::Mean);
/// 1 - cos(x1, x2) if y = 1, max(0, cos(x1, x2) - margin) if y = -1. x is (N, D) or (D).
EBB_API Variable cosine_embedding_loss(const Variable& input1, const Variable& input2, const Variable& target,
                                       double margin = 0.0, std::int64_t reduction = Reduction::Mean);
/// sum_{i != t} max(0, margin - x_t + x_i)^p w_t / C, where p is 1 or 2. x is (N, C) or (C).
EBB_API Variable multi_margin_loss(const Variable& self, const Variable& target, const Scalar& p = 1,
                                   const Scalar& margin = 1, const optional<Variable>& weight = {},
                                   std::int64_t reduction = Reduction::Mean);
/// The sum of max(0, 1 - (x_j - x_i)) / C over all labels j and all classes i that are not labels. The labels
/// are the entries of `target` before the first -1.
EBB_API Variable multilabel_margin_loss(const Variable& self, const Variable& target,
                                        std::int64_t reduction = Reduction::Mean);

/// Connectionist temporal classification. The loss is -log of the probability of a target's labels over all
/// alignments to a longer sequence. In an alignment labels may repeat, and blanks may separate them.
/// log_probs is (T, N, C), or (T, C) for one sequence, and contains Float or Double log-probabilities
/// (log_softmax). targets are Long or Int, with shape (N, S), or (sum of target_lengths) if concatenated.
/// Labels are below C and differ from the blank. Sample n has input_lengths[n] steps and target_lengths[n]
/// labels. Reduction::Mean first divides each loss by its target's length (at least 1). A target without
/// alignment has an infinite loss; with zero_infinity its loss and gradient are 0.
///
/// The gradient is torch's: exp(log_probs) minus the posterior of each class. If log_probs =
/// log_softmax(scores), the gradient of the scores has the same value, because the backward pass of
/// log_softmax does not change it. The second derivative throws NotImplementedError. The host reads lengths
/// that are tensors. In a captured graph, lengths must therefore be lists or CPU tensors. (torch.ctc_loss;
/// Graves et al. 2006.)
EBB_API Variable ctc_loss(const Variable& log_probs, const Variable& targets, IntArrayRef input_lengths,
                          IntArrayRef target_lengths, std::int64_t blank = 0,
                          std::int64_t reduction = Reduction::Mean, bool zero_infinity = false);
EBB_API Variable ctc_loss(const Variable& log_probs, const Variable& targets, const Variable& input_lengths,
                          const Variable& target_lengths, std::int64_t blank = 0,
                          std::int64_t reduction = Reduction::Mean, bool zero_infinity = false);

}  // namespace ebb
