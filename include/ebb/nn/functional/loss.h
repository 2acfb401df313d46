// Losses with options (torch::nn::functional). l1_loss, mse_loss, smooth_l1_loss and huber_loss warn where
// the target's shape is not the input's (see core/warning.h); binary_cross_entropy refuses it.
#pragma once

#include <ebb/nn/options/loss.h>

namespace ebb::nn::functional {

EBB_API Variable l1_loss(const Variable& input, const Variable& target,
                         const L1LossFuncOptions& options = {});
EBB_API Variable mse_loss(const Variable& input, const Variable& target,
                          const MSELossFuncOptions& options = {});
/// As in libtorch 1.13, beta is this argument and not the option's; nn::SmoothL1Loss takes the option's.
EBB_API Variable smooth_l1_loss(const Variable& input, const Variable& target,
                                const SmoothL1LossFuncOptions& options = {}, double beta = 1.0);
EBB_API Variable huber_loss(const Variable& input, const Variable& target,
                            const HuberLossFuncOptions& options = {});
EBB_API Variable kl_div(const Variable& input, const Variable& target, const KLDivFuncOptions& options = {});
EBB_API Variable binary_cross_entropy(const Variable& input, const Variable& target,
                                      const BinaryCrossEntropyFuncOptions& options = {});
EBB_API Variable
binary_cross_entropy_with_logits(const Variable& input, const Variable& target,
                                 const BinaryCrossEntropyWithLogitsFuncOptions& options = {});
EBB_API Variable hinge_embedding_loss(const Variable& input, const Variable& target,
                                      const HingeEmbeddingLossFuncOptions& options = {});
EBB_API Variable multi_margin_loss(const Variable& input, const Variable& target,
                                   const MultiMarginLossFuncOptions& options = {});
EBB_API Variable cosine_embedding_loss(const Variable& input1, const Variable& input2, const Variable& target,
                                       const CosineEmbeddingLossFuncOptions& options = {});
EBB_API Variable multilabel_margin_loss(const Variable& input, const Variable& target,
                                        const MultilabelMarginLossFuncOptions& options = {});
EBB_API Variable soft_margin_loss(const Variable& input, const Variable& target,
                                  const SoftMarginLossFuncOptions& options = {});
/// Binary cross-entropy with logits averaged over the classes.
EBB_API Variable multilabel_soft_margin_loss(const Variable& input, const Variable& target,
                                             const MultilabelSoftMarginLossFuncOptions& options = {});
EBB_API Variable triplet_margin_loss(const Variable& anchor, const Variable& positive,
                                     const Variable& negative,
                                     const TripletMarginLossFuncOptions& options = {});
EBB_API Variable poisson_nll_loss(const Variable& input, const Variable& target,
                                  const PoissonNLLLossFuncOptions& options = {});
EBB_API Variable margin_ranking_loss(const Variable& input1, const Variable& input2, const Variable& target,
                                     const MarginRankingLossFuncOptions& options = {});
EBB_API Variable nll_loss(const Variable& input, const Variable& target,
                          const NLLLossFuncOptions& options = {});
EBB_API Variable cross_entropy(const Variable& input, const Variable& target,
                               const CrossEntropyFuncOptions& options = {});
/// (log v + (x - y)^2 / v) / 2 with the variance v clamped from below at eps; `full` adds log(2 pi) / 2
/// (PyTorch's F.gaussian_nll_loss, which libtorch lacks).
EBB_API Variable gaussian_nll_loss(const Variable& input, const Variable& target, const Variable& variance,
                                   const GaussianNLLLossFuncOptions& options = {});

}  // namespace ebb::nn::functional
