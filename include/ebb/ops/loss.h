// Losses. `reduction` is one of Reduction::None (one value an element), Mean and Sum.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

/// What a loss does with its values (torch: at::Reduction).
namespace Reduction {
enum Reduction { None, Mean, Sum, END };
}  // namespace Reduction

/// (x - y)^2. The shapes broadcast; so they do in the next three.
EBB_API Variable mse_loss(const Variable& self, const Variable& target,
                          std::int64_t reduction = Reduction::Mean);
/// |x - y|.
EBB_API Variable l1_loss(const Variable& self, const Variable& target,
                         std::int64_t reduction = Reduction::Mean);
/// With d = |x - y|: d^2 / (2 beta) where d < beta, else d - beta / 2. beta = 0 gives l1_loss; negative beta
/// throws.
EBB_API Variable smooth_l1_loss(const Variable& self, const Variable& target,
                                std::int64_t reduction = Reduction::Mean, double beta = 1.0);
/// With d = |x - y|: d^2 / 2 where d <= delta, else delta (d - delta / 2). delta must be positive (Huber
/// 1964).
EBB_API Variable huber_loss(const Variable& self, const Variable& target,
                            std::int64_t reduction = Reduction::Mean, double delta = 1.0);
/// log(1 + exp(-y x)) for labels y of 1 and -1.
EBB_API Variable soft_margin_loss(const Variable& self, const Variable& target,
                                  std::int64_t reduction = Reduction::Mean);

/// -w (y log x + (1 - y) log(1 - x)) for probabilities x; the logarithms are clamped at -100. The shapes are
/// equal but for dimensions of size 1: a target (N) goes with an input (N, 1), element by element. The result
/// and `weight`, which broadcasts, follow the input's shape. Throws for x outside [0, 1] on the CPU.
EBB_API Variable binary_cross_entropy(const Variable& self, const Variable& target,
                                      const optional<Variable>& weight = {},
                                      std::int64_t reduction = Reduction::Mean);
/// The same of sigmoid(x), without overflow; `pos_weight` scales the terms of positive labels.
EBB_API Variable binary_cross_entropy_with_logits(const Variable& self, const Variable& target,
                                                  const optional<Variable>& weight = {},
                                                  const optional<Variable>& pos_weight = {},
                                                  std::int64_t reduction = Reduction::Mean);
/// y (log y - x) for log-probabilities x, 0 where y = 0; with log_target exp(y) (y - x).
EBB_API Variable kl_div(const Variable& self, const Variable& target,
                        std::int64_t reduction = Reduction::Mean, bool log_target = false);
/// exp(x) - y x with log_input, else x - y log(x + eps); `full` adds Stirling's y log y - y + log(2 pi y) / 2
/// for y > 1.
EBB_API Variable poisson_nll_loss(const Variable& input, const Variable& target, bool log_input, bool full,
                                  double eps, std::int64_t reduction);

/// -w_t x_t of the class t: x is (N, C) with t (N), or (C) with a single t. Targets are Long (or Byte). Those
/// equal to ignore_index count nothing; the mean divides by the sum of the weights used, so it is NaN if all
/// are ignored. Throws for a target outside [0, C).
EBB_API Variable nll_loss(const Variable& self, const Variable& target, const optional<Variable>& weight = {},
                          std::int64_t reduction = Reduction::Mean, std::int64_t ignore_index = -100);
/// The same of x (N, C, H, W) and t (N, H, W).
EBB_API Variable nll_loss2d(const Variable& self, const Variable& target,
                            const optional<Variable>& weight = {}, std::int64_t reduction = Reduction::Mean,
                            std::int64_t ignore_index = -100);
/// The same of x (N, C, d1, d2, ...) and t (N, d1, d2, ...).
EBB_API Variable nll_loss_nd(const Variable& self, const Variable& target,
                             const optional<Variable>& weight = {}, std::int64_t reduction = Reduction::Mean,
                             std::int64_t ignore_index = -100);
/// -sum_c w_c y_c log softmax(x)_c along dimension 1 (0 of a single sample). The target holds classes, as in
/// nll_loss_nd, or, of x's shape and a floating dtype, probabilities. `label_smoothing` mixes it with the
/// uniform distribution.
EBB_API Variable cross_entropy_loss(const Variable& self, const Variable& target,
                                    const optional<Variable>& weight = {},
                                    std::int64_t reduction = Reduction::Mean,
                                    std::int64_t ignore_index = -100, double label_smoothing = 0.0);

/// x where y = 1, max(0, margin - x) where y = -1.
EBB_API Variable hinge_embedding_loss(const Variable& self, const Variable& target, double margin = 1.0,
                                      std::int64_t reduction = Reduction::Mean);
/// max(0, -y (x1 - x2) + margin).
EBB_API Variable margin_ranking_loss(const Variable& input1, const Variable& input2, const Variable& target,
                                     double margin = 0.0, std::int64_t reduction = Reduction::Mean);
/// max(0, |a - p|_p - |a - n|_p + margin); with `swap` |p - n| if that is nearer.
EBB_API Variable triplet_margin_loss(const Variable& anchor, const Variable& positive,
                                     const Variable& negative, double margin = 1.0, double p = 2.0,
                                     double eps = 1e-6, bool swap = false,
                                     std::int64_t reduction = Reduction::Mean);
/// 1 - cos(x1, x2) where y = 1, max(0, cos(x1, x2) - margin) where y = -1. x is (N, D) or (D).
EBB_API Variable cosine_embedding_loss(const Variable& input1, const Variable& input2, const Variable& target,
                                       double margin = 0.0, std::int64_t reduction = Reduction::Mean);
/// sum_{i != t} max(0, margin - x_t + x_i)^p w_t / C for p of 1 or 2. x is (N, C) or (C).
EBB_API Variable multi_margin_loss(const Variable& self, const Variable& target, const Scalar& p = 1,
                                   const Scalar& margin = 1, const optional<Variable>& weight = {},
                                   std::int64_t reduction = Reduction::Mean);
/// sum over the labels j (listed up to the first -1) and the classes i not listed of max(0, 1 - (x_j - x_i))
/// / C.
EBB_API Variable multilabel_margin_loss(const Variable& self, const Variable& target,
                                        std::int64_t reduction = Reduction::Mean);

/// Connectionist temporal classification: -log of the probability of a target's labels under all alignments
/// to a longer sequence, in which labels may repeat and blanks stand between them. log_probs is (T, N, C), or
/// (T, C) of one sequence, Float or Double, the logarithms of probabilities (log_softmax); targets are Long
/// or Int, (N, S) or one after another (sum of target_lengths), below C and not the blank. Sample n has
/// input_lengths[n] steps and target_lengths[n] labels. Mean divides each loss by its target's length (at
/// least 1) first. A target without alignment loses infinity, or with zero_infinity 0, and so its gradient.
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
