// Loss functions with options (torch::nn::functional). If target and input have different shapes, l1_loss,
// mse_loss, smooth_l1_loss and huber_loss warn (see core/warning.h), and binary_cross_entropy throws.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/arg.h>
#include <ebb/nn/enums.h>

namespace ebb::nn {

/// The reduction of a loss: the mean, the sum, or none (one value for each element).
using reduction_t = OneOf<enumtype::kMean, enumtype::kSum, enumtype::kNone>;

/// Options of L1Loss.
class EBB_API L1LossOptions {
 public:
  using reduction_t = nn::reduction_t;

  L1LossOptions() = default;
  template <class Tag>
    requires std::is_constructible_v<reduction_t, Tag>
  L1LossOptions(Tag tag) : reduction_(tag) {}

  EBB_ARG(reduction_t, reduction);  ///< mean, sum or none
};

/// Options of KLDivLoss.
class EBB_API KLDivLossOptions {
 public:
  using reduction_t = OneOf<enumtype::kMean, enumtype::kSum, enumtype::kNone, enumtype::kBatchMean>;

  KLDivLossOptions() = default;
  template <class Tag>
    requires std::is_constructible_v<reduction_t, Tag>
  KLDivLossOptions(Tag tag) : reduction_(tag) {}

  EBB_ARG(reduction_t, reduction);    ///< mean, sum, none, or sum divided by batch size
  EBB_ARG(bool, log_target) = false;  ///< the target is a logarithm
};

/// Options of MSELoss.
class EBB_API MSELossOptions {
 public:
  using reduction_t = nn::reduction_t;

  MSELossOptions() = default;
  template <class Tag>
    requires std::is_constructible_v<reduction_t, Tag>
  MSELossOptions(Tag tag) : reduction_(tag) {}

  EBB_ARG(reduction_t, reduction);  ///< mean, sum or none
};

/// Options of BCELoss.
class EBB_API BCELossOptions {
 public:
  using reduction_t = nn::reduction_t;

  EBB_ARG(Variable, weight);        ///< a factor for each element (it broadcasts), or undefined
  EBB_ARG(reduction_t, reduction);  ///< mean, sum or none
};

/// Options of HingeEmbeddingLoss.
class EBB_API HingeEmbeddingLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  EBB_ARG(double, margin) = 1.0;    ///< required distance
  EBB_ARG(reduction_t, reduction);  ///< mean, sum or none
};

/// Options of MultiMarginLoss.
class EBB_API MultiMarginLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  EBB_ARG(std::int64_t, p) = 1;     ///< 1 or 2
  EBB_ARG(double, margin) = 1.0;    ///< required distance
  EBB_ARG(Variable, weight);        ///< a factor for each class, or undefined
  EBB_ARG(reduction_t, reduction);  ///< mean, sum or none
};

/// Options of CosineEmbeddingLoss.
class EBB_API CosineEmbeddingLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  EBB_ARG(double, margin) = 0.0;    ///< required distance
  EBB_ARG(reduction_t, reduction);  ///< mean, sum or none
};

/// Options of MultiLabelMarginLoss.
class EBB_API MultiLabelMarginLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  MultiLabelMarginLossOptions() = default;
  template <class Tag>
    requires std::is_constructible_v<reduction_t, Tag>
  MultiLabelMarginLossOptions(Tag tag) : reduction_(tag) {}

  EBB_ARG(reduction_t, reduction);  ///< mean, sum or none
};

/// Options of SoftMarginLoss.
class EBB_API SoftMarginLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  SoftMarginLossOptions() = default;
  template <class Tag>
    requires std::is_constructible_v<reduction_t, Tag>
  SoftMarginLossOptions(Tag tag) : reduction_(tag) {}

  EBB_ARG(reduction_t, reduction);  ///< mean, sum or none
};

/// Options of MultiLabelSoftMarginLoss.
class EBB_API MultiLabelSoftMarginLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  EBB_ARG(Variable, weight);        ///< a factor for each class, or undefined
  EBB_ARG(reduction_t, reduction);  ///< mean, sum or none
};

/// Options of TripletMarginLoss.
class EBB_API TripletMarginLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  EBB_ARG(double, margin) = 1.0;    ///< required distance
  EBB_ARG(double, p) = 2.0;         ///< order of the norm
  EBB_ARG(double, eps) = 1e-6;      ///< added to the difference
  EBB_ARG(bool, swap) = false;      ///< replaces d(a, n) by min(d(a, n), d(p, n))
  EBB_ARG(reduction_t, reduction);  ///< mean, sum or none
};

/// Options of SmoothL1Loss.
class EBB_API SmoothL1LossOptions {
 public:
  using reduction_t = nn::reduction_t;

  SmoothL1LossOptions() = default;
  template <class Tag>
    requires std::is_constructible_v<reduction_t, Tag>
  SmoothL1LossOptions(Tag tag) : reduction_(tag) {}

  EBB_ARG(reduction_t, reduction);  ///< mean, sum or none
  EBB_ARG(double, beta) = 1.0;      ///< quadratic if |x - y| < beta, otherwise linear
};

/// Options of HuberLoss.
class EBB_API HuberLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  HuberLossOptions() = default;
  template <class Tag>
    requires std::is_constructible_v<reduction_t, Tag>
  HuberLossOptions(Tag tag) : reduction_(tag) {}

  EBB_ARG(reduction_t, reduction);  ///< mean, sum or none
  EBB_ARG(double, delta) = 1.0;     ///< quadratic if |x - y| <= delta, otherwise linear
};

/// Options of PoissonNLLLoss.
class EBB_API PoissonNLLLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  EBB_ARG(bool, log_input) = true;  ///< the input is a logarithm
  EBB_ARG(bool, full) = false;      ///< adds Stirling's term
  EBB_ARG(double, eps) = 1e-8;      ///< added to the input under the logarithm
  EBB_ARG(reduction_t, reduction);  ///< mean, sum or none
};

/// Options of MarginRankingLoss.
class EBB_API MarginRankingLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  EBB_ARG(double, margin) = 0.0;    ///< required distance
  EBB_ARG(reduction_t, reduction);  ///< mean, sum or none
};

/// Options of NLLLoss.
class EBB_API NLLLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  EBB_ARG(Variable, weight);                   ///< a factor for each class, or undefined
  EBB_ARG(std::int64_t, ignore_index) = -100;  ///< a target class that is ignored
  EBB_ARG(reduction_t, reduction);             ///< mean, sum or none
};

/// Options of CrossEntropyLoss.
class EBB_API CrossEntropyLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  EBB_ARG(Variable, weight);                   ///< a factor for each class, or undefined
  EBB_ARG(std::int64_t, ignore_index) = -100;  ///< a target class that is ignored
  EBB_ARG(reduction_t, reduction);             ///< mean, sum or none
  EBB_ARG(double, label_smoothing) = 0.0;      ///< weight of the uniform distribution in the target
};

/// Options of BCEWithLogitsLoss.
class EBB_API BCEWithLogitsLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  EBB_ARG(Variable, weight);        ///< a factor for each element (it broadcasts), or undefined
  EBB_ARG(reduction_t, reduction);  ///< mean, sum or none
  EBB_ARG(Variable, pos_weight);    ///< a factor for positive targets
};

/// Options of GaussianNLLLoss.
class EBB_API GaussianNLLLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  EBB_ARG(bool, full) = false;      ///< adds log(2 pi) / 2
  EBB_ARG(double, eps) = 1e-6;      ///< lower bound of the variance
  EBB_ARG(reduction_t, reduction);  ///< mean, sum or none
};

namespace functional {
using L1LossFuncOptions = L1LossOptions;
using KLDivFuncOptions = KLDivLossOptions;
using MSELossFuncOptions = MSELossOptions;
using BinaryCrossEntropyFuncOptions = BCELossOptions;
using HingeEmbeddingLossFuncOptions = HingeEmbeddingLossOptions;
using MultiMarginLossFuncOptions = MultiMarginLossOptions;
using CosineEmbeddingLossFuncOptions = CosineEmbeddingLossOptions;
using MultilabelMarginLossFuncOptions = MultiLabelMarginLossOptions;
using SoftMarginLossFuncOptions = SoftMarginLossOptions;
using MultilabelSoftMarginLossFuncOptions = MultiLabelSoftMarginLossOptions;
using TripletMarginLossFuncOptions = TripletMarginLossOptions;
using SmoothL1LossFuncOptions = SmoothL1LossOptions;
using HuberLossFuncOptions = HuberLossOptions;
using PoissonNLLLossFuncOptions = PoissonNLLLossOptions;
using MarginRankingLossFuncOptions = MarginRankingLossOptions;
using NLLLossFuncOptions = NLLLossOptions;
using CrossEntropyFuncOptions = CrossEntropyLossOptions;
using BinaryCrossEntropyWithLogitsFuncOptions = BCEWithLogitsLossOptions;
using GaussianNLLLossFuncOptions = GaussianNLLLossOptions;
EBB_API Variable l1_loss(const Variable& input, const Variable& target,
                         const L1LossFuncOptions& options = {});
EBB_API Variable mse_loss(const Variable& input, const Variable& target,
                          const MSELossFuncOptions& options = {});
/// Computes smooth_l1_loss. As in libtorch 1.13, it uses the argument beta and ignores the beta of the
/// options. nn::SmoothL1Loss uses the beta of the options.
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
/// Computes binary cross-entropy with logits, averaged over the classes.
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
/// Computes (log v + (x - y)^2 / v) / 2, where v is the variance, at least eps. `full` adds log(2 pi) / 2
/// (PyTorch's F.gaussian_nll_loss, which libtorch lacks).
EBB_API Variable gaussian_nll_loss(const Variable& input, const Variable& target, const Variable& variance,
                                   const GaussianNLLLossFuncOptions& options = {});

}  // namespace functional

}  // namespace ebb::nn
