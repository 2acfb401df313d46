// Options of the losses.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/nn/enums.h>

namespace ebb::nn {

/// Whether a loss is averaged, summed, or left one value an element.
using reduction_t = OneOf<enumtype::kMean, enumtype::kSum, enumtype::kNone>;

/// Options of L1Loss.
class L1LossOptions {
 public:
  using reduction_t = nn::reduction_t;

  L1LossOptions() = default;
  template <class Tag>
  requires std::is_constructible_v<reduction_t, Tag> L1LossOptions(Tag tag) : reduction_(tag) {}
  L1LossOptions& reduction(reduction_t value) { return reduction_ = value, *this; }
  const reduction_t& reduction() const { return reduction_; }

 private:
  reduction_t reduction_;
};

/// Options of KLDivLoss; kBatchMean divides the sum by the batch size.
class KLDivLossOptions {
 public:
  using reduction_t = OneOf<enumtype::kMean, enumtype::kSum, enumtype::kNone, enumtype::kBatchMean>;

  KLDivLossOptions() = default;
  template <class Tag>
  requires std::is_constructible_v<reduction_t, Tag> KLDivLossOptions(Tag tag) : reduction_(tag) {}
  KLDivLossOptions& reduction(reduction_t value) { return reduction_ = value, *this; }
  const reduction_t& reduction() const { return reduction_; }
  KLDivLossOptions& log_target(bool value) { return log_target_ = value, *this; }
  bool log_target() const { return log_target_; }

 private:
  reduction_t reduction_;
  bool log_target_ = false;
};

/// Options of MSELoss.
class MSELossOptions {
 public:
  using reduction_t = nn::reduction_t;

  MSELossOptions() = default;
  template <class Tag>
  requires std::is_constructible_v<reduction_t, Tag> MSELossOptions(Tag tag) : reduction_(tag) {}
  MSELossOptions& reduction(reduction_t value) { return reduction_ = value, *this; }
  const reduction_t& reduction() const { return reduction_; }

 private:
  reduction_t reduction_;
};

/// Options of BCELoss.
class BCELossOptions {
 public:
  using reduction_t = nn::reduction_t;

  BCELossOptions& weight(Variable value) { return weight_ = std::move(value), *this; }
  const Variable& weight() const { return weight_; }
  BCELossOptions& reduction(reduction_t value) { return reduction_ = value, *this; }
  const reduction_t& reduction() const { return reduction_; }

 private:
  Variable weight_;
  reduction_t reduction_;
};

/// Options of HingeEmbeddingLoss.
class HingeEmbeddingLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  HingeEmbeddingLossOptions& margin(double value) { return margin_ = value, *this; }
  double margin() const { return margin_; }
  HingeEmbeddingLossOptions& reduction(reduction_t value) { return reduction_ = value, *this; }
  const reduction_t& reduction() const { return reduction_; }

 private:
  double margin_ = 1.0;
  reduction_t reduction_;
};

/// Options of MultiMarginLoss.
class MultiMarginLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  MultiMarginLossOptions& p(std::int64_t value) { return p_ = value, *this; }
  std::int64_t p() const { return p_; }
  MultiMarginLossOptions& margin(double value) { return margin_ = value, *this; }
  double margin() const { return margin_; }
  MultiMarginLossOptions& weight(Variable value) { return weight_ = std::move(value), *this; }
  const Variable& weight() const { return weight_; }
  MultiMarginLossOptions& reduction(reduction_t value) { return reduction_ = value, *this; }
  const reduction_t& reduction() const { return reduction_; }

 private:
  std::int64_t p_ = 1;
  double margin_ = 1.0;
  Variable weight_;
  reduction_t reduction_;
};

/// Options of CosineEmbeddingLoss.
class CosineEmbeddingLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  CosineEmbeddingLossOptions& margin(double value) { return margin_ = value, *this; }
  double margin() const { return margin_; }
  CosineEmbeddingLossOptions& reduction(reduction_t value) { return reduction_ = value, *this; }
  const reduction_t& reduction() const { return reduction_; }

 private:
  double margin_ = 0.0;
  reduction_t reduction_;
};

/// Options of MultiLabelMarginLoss.
class MultiLabelMarginLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  MultiLabelMarginLossOptions() = default;
  template <class Tag>
  requires std::is_constructible_v<reduction_t, Tag> MultiLabelMarginLossOptions(Tag tag) : reduction_(tag) {}
  MultiLabelMarginLossOptions& reduction(reduction_t value) { return reduction_ = value, *this; }
  const reduction_t& reduction() const { return reduction_; }

 private:
  reduction_t reduction_;
};

/// Options of SoftMarginLoss.
class SoftMarginLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  SoftMarginLossOptions() = default;
  template <class Tag>
  requires std::is_constructible_v<reduction_t, Tag> SoftMarginLossOptions(Tag tag) : reduction_(tag) {}
  SoftMarginLossOptions& reduction(reduction_t value) { return reduction_ = value, *this; }
  const reduction_t& reduction() const { return reduction_; }

 private:
  reduction_t reduction_;
};

/// Options of MultiLabelSoftMarginLoss.
class MultiLabelSoftMarginLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  MultiLabelSoftMarginLossOptions& weight(Variable value) { return weight_ = std::move(value), *this; }
  const Variable& weight() const { return weight_; }
  MultiLabelSoftMarginLossOptions& reduction(reduction_t value) { return reduction_ = value, *this; }
  const reduction_t& reduction() const { return reduction_; }

 private:
  Variable weight_;
  reduction_t reduction_;
};

/// Options of TripletMarginLoss.
class TripletMarginLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  TripletMarginLossOptions& margin(double value) { return margin_ = value, *this; }
  double margin() const { return margin_; }
  TripletMarginLossOptions& p(double value) { return p_ = value, *this; }
  double p() const { return p_; }
  TripletMarginLossOptions& eps(double value) { return eps_ = value, *this; }
  double eps() const { return eps_; }
  TripletMarginLossOptions& swap(bool value) { return swap_ = value, *this; }
  bool swap() const { return swap_; }
  TripletMarginLossOptions& reduction(reduction_t value) { return reduction_ = value, *this; }
  const reduction_t& reduction() const { return reduction_; }

 private:
  double margin_ = 1.0;
  double p_ = 2.0;
  double eps_ = 1e-6;
  bool swap_ = false;
  reduction_t reduction_;
};

/// Options of SmoothL1Loss.
class SmoothL1LossOptions {
 public:
  using reduction_t = nn::reduction_t;

  SmoothL1LossOptions() = default;
  template <class Tag>
  requires std::is_constructible_v<reduction_t, Tag> SmoothL1LossOptions(Tag tag) : reduction_(tag) {}
  SmoothL1LossOptions& reduction(reduction_t value) { return reduction_ = value, *this; }
  const reduction_t& reduction() const { return reduction_; }
  SmoothL1LossOptions& beta(double value) { return beta_ = value, *this; }
  double beta() const { return beta_; }

 private:
  reduction_t reduction_;
  double beta_ = 1.0;
};

/// Options of HuberLoss.
class HuberLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  HuberLossOptions() = default;
  template <class Tag>
  requires std::is_constructible_v<reduction_t, Tag> HuberLossOptions(Tag tag) : reduction_(tag) {}
  HuberLossOptions& reduction(reduction_t value) { return reduction_ = value, *this; }
  const reduction_t& reduction() const { return reduction_; }
  HuberLossOptions& delta(double value) { return delta_ = value, *this; }
  double delta() const { return delta_; }

 private:
  reduction_t reduction_;
  double delta_ = 1.0;
};

/// Options of PoissonNLLLoss.
class PoissonNLLLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  PoissonNLLLossOptions& log_input(bool value) { return log_input_ = value, *this; }
  bool log_input() const { return log_input_; }
  PoissonNLLLossOptions& full(bool value) { return full_ = value, *this; }
  bool full() const { return full_; }
  PoissonNLLLossOptions& eps(double value) { return eps_ = value, *this; }
  double eps() const { return eps_; }
  PoissonNLLLossOptions& reduction(reduction_t value) { return reduction_ = value, *this; }
  const reduction_t& reduction() const { return reduction_; }

 private:
  bool log_input_ = true;
  bool full_ = false;
  double eps_ = 1e-8;
  reduction_t reduction_;
};

/// Options of MarginRankingLoss.
class MarginRankingLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  MarginRankingLossOptions& margin(double value) { return margin_ = value, *this; }
  double margin() const { return margin_; }
  MarginRankingLossOptions& reduction(reduction_t value) { return reduction_ = value, *this; }
  const reduction_t& reduction() const { return reduction_; }

 private:
  double margin_ = 0.0;
  reduction_t reduction_;
};

/// Options of NLLLoss.
class NLLLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  NLLLossOptions& weight(Variable value) { return weight_ = std::move(value), *this; }
  const Variable& weight() const { return weight_; }
  NLLLossOptions& ignore_index(std::int64_t value) { return ignore_index_ = value, *this; }
  std::int64_t ignore_index() const { return ignore_index_; }
  NLLLossOptions& reduction(reduction_t value) { return reduction_ = value, *this; }
  const reduction_t& reduction() const { return reduction_; }

 private:
  Variable weight_;
  std::int64_t ignore_index_ = -100;
  reduction_t reduction_;
};

/// Options of CrossEntropyLoss.
class CrossEntropyLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  CrossEntropyLossOptions& weight(Variable value) { return weight_ = std::move(value), *this; }
  const Variable& weight() const { return weight_; }
  CrossEntropyLossOptions& ignore_index(std::int64_t value) { return ignore_index_ = value, *this; }
  std::int64_t ignore_index() const { return ignore_index_; }
  CrossEntropyLossOptions& reduction(reduction_t value) { return reduction_ = value, *this; }
  const reduction_t& reduction() const { return reduction_; }
  CrossEntropyLossOptions& label_smoothing(double value) { return label_smoothing_ = value, *this; }
  double label_smoothing() const { return label_smoothing_; }

 private:
  Variable weight_;
  std::int64_t ignore_index_ = -100;
  reduction_t reduction_;
  double label_smoothing_ = 0.0;
};

/// Options of BCEWithLogitsLoss.
class BCEWithLogitsLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  BCEWithLogitsLossOptions& weight(Variable value) { return weight_ = std::move(value), *this; }
  const Variable& weight() const { return weight_; }
  BCEWithLogitsLossOptions& reduction(reduction_t value) { return reduction_ = value, *this; }
  const reduction_t& reduction() const { return reduction_; }
  BCEWithLogitsLossOptions& pos_weight(Variable value) { return pos_weight_ = std::move(value), *this; }
  const Variable& pos_weight() const { return pos_weight_; }

 private:
  Variable weight_;
  reduction_t reduction_;
  Variable pos_weight_;
};

/// Options of GaussianNLLLoss.
class GaussianNLLLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  GaussianNLLLossOptions& full(bool value) { return full_ = value, *this; }
  bool full() const { return full_; }
  GaussianNLLLossOptions& eps(double value) { return eps_ = value, *this; }
  double eps() const { return eps_; }
  GaussianNLLLossOptions& reduction(reduction_t value) { return reduction_ = value, *this; }
  const reduction_t& reduction() const { return reduction_; }

 private:
  bool full_ = false;
  double eps_ = 1e-6;
  reduction_t reduction_;
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
}  // namespace functional

}  // namespace ebb::nn
