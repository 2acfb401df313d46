// Losses as modules.
#pragma once

#include <ebb/nn/cloneable.h>
#include <ebb/nn/options/loss.h>

namespace ebb::nn {

/// functional::l1_loss with its options.
class EBB_API L1LossImpl : public Cloneable<L1LossImpl> {
 public:
  explicit L1LossImpl(L1LossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input, const Variable& target);

  L1LossOptions options;
};
EBB_MODULE(L1Loss);

/// functional::kl_div with its options.
class EBB_API KLDivLossImpl : public Cloneable<KLDivLossImpl> {
 public:
  explicit KLDivLossImpl(KLDivLossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input, const Variable& target);

  KLDivLossOptions options;
};
EBB_MODULE(KLDivLoss);

/// functional::mse_loss with its options.
class EBB_API MSELossImpl : public Cloneable<MSELossImpl> {
 public:
  explicit MSELossImpl(MSELossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input, const Variable& target);

  MSELossOptions options;
};
EBB_MODULE(MSELoss);

/// functional::binary_cross_entropy with its options; weight is a buffer.
class EBB_API BCELossImpl : public Cloneable<BCELossImpl> {
 public:
  explicit BCELossImpl(BCELossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input, const Variable& target);

  BCELossOptions options;
  Variable weight;
};
EBB_MODULE(BCELoss);

/// functional::hinge_embedding_loss with its options.
class EBB_API HingeEmbeddingLossImpl : public Cloneable<HingeEmbeddingLossImpl> {
 public:
  explicit HingeEmbeddingLossImpl(HingeEmbeddingLossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input, const Variable& target);

  HingeEmbeddingLossOptions options;
};
EBB_MODULE(HingeEmbeddingLoss);

/// functional::multi_margin_loss with its options; weight is a buffer.
class EBB_API MultiMarginLossImpl : public Cloneable<MultiMarginLossImpl> {
 public:
  explicit MultiMarginLossImpl(MultiMarginLossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input, const Variable& target);

  MultiMarginLossOptions options;
  Variable weight;
};
EBB_MODULE(MultiMarginLoss);

/// functional::cosine_embedding_loss with its options.
class EBB_API CosineEmbeddingLossImpl : public Cloneable<CosineEmbeddingLossImpl> {
 public:
  explicit CosineEmbeddingLossImpl(CosineEmbeddingLossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input1, const Variable& input2, const Variable& target);

  CosineEmbeddingLossOptions options;
};
EBB_MODULE(CosineEmbeddingLoss);

/// functional::multilabel_margin_loss with its options.
class EBB_API MultiLabelMarginLossImpl : public Cloneable<MultiLabelMarginLossImpl> {
 public:
  explicit MultiLabelMarginLossImpl(MultiLabelMarginLossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input, const Variable& target);

  MultiLabelMarginLossOptions options;
};
EBB_MODULE(MultiLabelMarginLoss);

/// functional::soft_margin_loss with its options.
class EBB_API SoftMarginLossImpl : public Cloneable<SoftMarginLossImpl> {
 public:
  explicit SoftMarginLossImpl(SoftMarginLossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input, const Variable& target);

  SoftMarginLossOptions options;
};
EBB_MODULE(SoftMarginLoss);

/// functional::multilabel_soft_margin_loss with its options; weight is a buffer.
class EBB_API MultiLabelSoftMarginLossImpl : public Cloneable<MultiLabelSoftMarginLossImpl> {
 public:
  explicit MultiLabelSoftMarginLossImpl(MultiLabelSoftMarginLossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input, const Variable& target);

  MultiLabelSoftMarginLossOptions options;
  Variable weight;
};
EBB_MODULE(MultiLabelSoftMarginLoss);

/// functional::triplet_margin_loss with its options.
class EBB_API TripletMarginLossImpl : public Cloneable<TripletMarginLossImpl> {
 public:
  explicit TripletMarginLossImpl(TripletMarginLossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& anchor, const Variable& positive, const Variable& negative);

  TripletMarginLossOptions options;
};
EBB_MODULE(TripletMarginLoss);

/// functional::smooth_l1_loss with its options.
class EBB_API SmoothL1LossImpl : public Cloneable<SmoothL1LossImpl> {
 public:
  explicit SmoothL1LossImpl(SmoothL1LossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input, const Variable& target);

  SmoothL1LossOptions options;
};
EBB_MODULE(SmoothL1Loss);

/// functional::huber_loss with its options.
class EBB_API HuberLossImpl : public Cloneable<HuberLossImpl> {
 public:
  explicit HuberLossImpl(HuberLossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input, const Variable& target);

  HuberLossOptions options;
};
EBB_MODULE(HuberLoss);

/// functional::poisson_nll_loss with its options.
class EBB_API PoissonNLLLossImpl : public Cloneable<PoissonNLLLossImpl> {
 public:
  explicit PoissonNLLLossImpl(PoissonNLLLossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input, const Variable& target);

  PoissonNLLLossOptions options;
};
EBB_MODULE(PoissonNLLLoss);

/// functional::margin_ranking_loss with its options.
class EBB_API MarginRankingLossImpl : public Cloneable<MarginRankingLossImpl> {
 public:
  explicit MarginRankingLossImpl(MarginRankingLossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input1, const Variable& input2, const Variable& target);

  MarginRankingLossOptions options;
};
EBB_MODULE(MarginRankingLoss);

/// functional::nll_loss with its options; weight is a buffer.
class EBB_API NLLLossImpl : public Cloneable<NLLLossImpl> {
 public:
  explicit NLLLossImpl(NLLLossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input, const Variable& target);

  NLLLossOptions options;
  Variable weight;
};
EBB_MODULE(NLLLoss);

/// functional::cross_entropy with its options; weight is a buffer.
class EBB_API CrossEntropyLossImpl : public Cloneable<CrossEntropyLossImpl> {
 public:
  explicit CrossEntropyLossImpl(CrossEntropyLossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input, const Variable& target);

  CrossEntropyLossOptions options;
  Variable weight;
};
EBB_MODULE(CrossEntropyLoss);

/// functional::binary_cross_entropy_with_logits with its options; weight and pos_weight are buffers.
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
EBB_MODULE(BCEWithLogitsLoss);

/// functional::gaussian_nll_loss with its options.
class EBB_API GaussianNLLLossImpl : public Cloneable<GaussianNLLLossImpl> {
 public:
  explicit GaussianNLLLossImpl(GaussianNLLLossOptions options_ = {});
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input, const Variable& target, const Variable& variance);

  GaussianNLLLossOptions options;
};
EBB_MODULE(GaussianNLLLoss);

}  // namespace ebb::nn
