// Loss functions as modules.
#pragma once

#include <ebb/nn/functional/ctc_loss.h>
#include <ebb/nn/functional/loss.h>
#include <ebb/nn/functional/triplet_loss.h>
#include <ebb/nn/stateless.h>

namespace ebb::nn {

namespace detail {

/// A loss of an input and a target.
template <class Derived, class Options>
using Loss = Stateless<Derived, Options, Variable, Variable>;

/// A loss of three tensors.
template <class Derived, class Options>
using TripleLoss = Stateless<Derived, Options, Variable, Variable, Variable>;

/// A loss of an input and a target whose weight is a buffer, so that it moves with the module.
template <class Derived, class Options>
class EBB_API WeightedLoss : public Cloneable<Derived> {
 public:
  explicit WeightedLoss(Options options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input, const Variable& target);

  Options options;
  Variable weight;
};

}  // namespace detail

/// Computes functional::l1_loss with the module's options.
struct EBB_API L1LossImpl : detail::Loss<L1LossImpl, L1LossOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(L1Loss);

/// Computes functional::kl_div with the module's options.
struct EBB_API KLDivLossImpl : detail::Loss<KLDivLossImpl, KLDivLossOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(KLDivLoss);

/// Computes functional::mse_loss with the module's options.
struct EBB_API MSELossImpl : detail::Loss<MSELossImpl, MSELossOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(MSELoss);

/// Computes functional::binary_cross_entropy with the module's options; weight is a buffer.
struct EBB_API BCELossImpl : detail::WeightedLoss<BCELossImpl, BCELossOptions> {
  using WeightedLoss::WeightedLoss;
};
EBB_LIBRARY_MODULE(BCELoss);

/// Computes functional::hinge_embedding_loss with the module's options.
struct EBB_API HingeEmbeddingLossImpl : detail::Loss<HingeEmbeddingLossImpl, HingeEmbeddingLossOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(HingeEmbeddingLoss);

/// Computes functional::multi_margin_loss with the module's options; weight is a buffer.
struct EBB_API MultiMarginLossImpl : detail::WeightedLoss<MultiMarginLossImpl, MultiMarginLossOptions> {
  using WeightedLoss::WeightedLoss;
};
EBB_LIBRARY_MODULE(MultiMarginLoss);

/// Computes functional::cosine_embedding_loss with the module's options.
struct EBB_API CosineEmbeddingLossImpl
    : detail::TripleLoss<CosineEmbeddingLossImpl, CosineEmbeddingLossOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(CosineEmbeddingLoss);

/// Computes functional::multilabel_margin_loss with the module's options.
struct EBB_API MultiLabelMarginLossImpl
    : detail::Loss<MultiLabelMarginLossImpl, MultiLabelMarginLossOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(MultiLabelMarginLoss);

/// Computes functional::soft_margin_loss with the module's options.
struct EBB_API SoftMarginLossImpl : detail::Loss<SoftMarginLossImpl, SoftMarginLossOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(SoftMarginLoss);

/// Computes functional::multilabel_soft_margin_loss with the module's options; weight is a buffer.
struct EBB_API MultiLabelSoftMarginLossImpl
    : detail::WeightedLoss<MultiLabelSoftMarginLossImpl, MultiLabelSoftMarginLossOptions> {
  using WeightedLoss::WeightedLoss;
};
EBB_LIBRARY_MODULE(MultiLabelSoftMarginLoss);

/// Computes functional::triplet_margin_loss with the module's options.
struct EBB_API TripletMarginLossImpl : detail::TripleLoss<TripletMarginLossImpl, TripletMarginLossOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(TripletMarginLoss);

/// Computes functional::smooth_l1_loss with the module's options.
struct EBB_API SmoothL1LossImpl : detail::Loss<SmoothL1LossImpl, SmoothL1LossOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(SmoothL1Loss);

/// Computes functional::huber_loss with the module's options.
struct EBB_API HuberLossImpl : detail::Loss<HuberLossImpl, HuberLossOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(HuberLoss);

/// Computes functional::poisson_nll_loss with the module's options.
struct EBB_API PoissonNLLLossImpl : detail::Loss<PoissonNLLLossImpl, PoissonNLLLossOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(PoissonNLLLoss);

/// Computes functional::margin_ranking_loss with the module's options.
struct EBB_API MarginRankingLossImpl : detail::TripleLoss<MarginRankingLossImpl, MarginRankingLossOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(MarginRankingLoss);

/// Computes functional::nll_loss with the module's options; weight is a buffer.
struct EBB_API NLLLossImpl : detail::WeightedLoss<NLLLossImpl, NLLLossOptions> {
  using WeightedLoss::WeightedLoss;
};
EBB_LIBRARY_MODULE(NLLLoss);

/// Computes functional::cross_entropy with the module's options; weight is a buffer.
struct EBB_API CrossEntropyLossImpl : detail::WeightedLoss<CrossEntropyLossImpl, CrossEntropyLossOptions> {
  using WeightedLoss::WeightedLoss;
};
EBB_LIBRARY_MODULE(CrossEntropyLoss);

/// Computes functional::gaussian_nll_loss with the module's options.
struct EBB_API GaussianNLLLossImpl : detail::TripleLoss<GaussianNLLLossImpl, GaussianNLLLossOptions> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(GaussianNLLLoss);

/// Computes functional::binary_cross_entropy_with_logits with the module's options; weight and pos_weight
/// are buffers.
class EBB_API BCEWithLogitsLossImpl : public Cloneable<BCEWithLogitsLossImpl> {
 public:
  explicit BCEWithLogitsLossImpl(BCEWithLogitsLossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input, const Variable& target);

  BCEWithLogitsLossOptions options;
  Variable weight;
  Variable pos_weight;
};
EBB_LIBRARY_MODULE(BCEWithLogitsLoss);

/// Computes functional::triplet_margin_with_distance_loss with the module's options.
struct EBB_API TripletMarginWithDistanceLossImpl
    : detail::Stateless<TripletMarginWithDistanceLossImpl, TripletMarginWithDistanceLossOptions, Variable,
                        Variable, Variable> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(TripletMarginWithDistanceLoss);

/// Computes functional::ctc_loss with the module's options: forward(log_probs, targets, input_lengths,
/// target_lengths).
struct EBB_API CTCLossImpl
    : detail::Stateless<CTCLossImpl, CTCLossOptions, Variable, Variable, Variable, Variable> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(CTCLoss);

}  // namespace ebb::nn
