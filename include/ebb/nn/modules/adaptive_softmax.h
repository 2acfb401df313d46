// A softmax over many classes, most of them rare, as a module.
#pragma once

#include <ebb/core/arg.h>
#include <ebb/nn/modules/container.h>
#include <ebb/nn/modules/linear.h>

#include <vector>

namespace ebb::nn {

/// Options of AdaptiveLogSoftmaxWithLoss.
class EBB_API AdaptiveLogSoftmaxWithLossOptions {
 public:
  using Cutoffs = std::vector<std::int64_t>;
  AdaptiveLogSoftmaxWithLossOptions(std::int64_t in_features, std::int64_t n_classes, Cutoffs cutoffs)
      : in_features_(in_features), n_classes_(n_classes), cutoffs_(std::move(cutoffs)) {}

  EBB_ARG(std::int64_t, in_features);  ///< columns of the input
  EBB_ARG(std::int64_t, n_classes);    ///< classes, the most frequent first
  EBB_ARG(Cutoffs, cutoffs);           ///< where each rarer cluster begins, ascending, below n_classes
  EBB_ARG(double, div_value) = 4.0;    ///< by which each cluster's projection is narrower than the one before
  EBB_ARG(bool, head_bias) = false;    ///< whether the head adds a bias
};

/// What AdaptiveLogSoftmaxWithLoss gives: the log-probability of each target (differentiable), and minus
/// their mean as a number, as in libtorch.
struct EBB_API ASMoutput {
  ASMoutput(Variable output_, double loss_);
  Variable output;
  double loss;
};

/// log_softmax over frequent classes and clusters of rarer ones, which have narrower projections of their own
/// (Grave et al. 2017). Weights are head.weight and tail.i.0.weight, tail.i.1.weight.
class EBB_API AdaptiveLogSoftmaxWithLossImpl : public Cloneable<AdaptiveLogSoftmaxWithLossImpl> {
 public:
  AdaptiveLogSoftmaxWithLossImpl(std::int64_t in_features, std::int64_t n_classes,
                                 std::vector<std::int64_t> cutoffs)
      : AdaptiveLogSoftmaxWithLossImpl(
            AdaptiveLogSoftmaxWithLossOptions(in_features, n_classes, std::move(cutoffs))) {}
  explicit AdaptiveLogSoftmaxWithLossImpl(AdaptiveLogSoftmaxWithLossOptions options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  /// input (N, in_features) or (in_features), target (N) or a number.
  ASMoutput forward(const Variable& input, const Variable& target);
  /// Of every class: (N, n_classes).
  Variable log_prob(const Variable& input);
  /// The class of the highest probability, (N); clusters are only looked into where they win.
  Variable predict(const Variable& input);
  /// log_prob from what the head gave.
  Variable _get_full_log_prob(const Variable& input, const Variable& head_output);

  AdaptiveLogSoftmaxWithLossOptions options;
  std::vector<std::int64_t> cutoffs;  // those of the options, and n_classes
  std::int64_t shortlist_size, n_clusters, head_size;
  Linear head = nullptr;
  ModuleList tail = nullptr;
};
EBB_LIBRARY_MODULE(AdaptiveLogSoftmaxWithLoss);

}  // namespace ebb::nn
