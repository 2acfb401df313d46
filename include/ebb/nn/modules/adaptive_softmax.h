// AdaptiveLogSoftmaxWithLoss: a softmax over many classes, most of them rare.
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
  EBB_ARG(std::int64_t, n_classes);    ///< number of classes, the most frequent ones first
  EBB_ARG(Cutoffs, cutoffs);           ///< the first class of each cluster of rarer classes, ascending, below
                                       ///< n_classes
  EBB_ARG(double, div_value) = 4.0;    ///< the factor by which the projection width shrinks from cluster to
                                       ///< cluster
  EBB_ARG(bool, head_bias) = false;    ///< whether the head adds a bias
};

/// The result of AdaptiveLogSoftmaxWithLoss: the log-probability of each target (differentiable), and the
/// negative mean of these log-probabilities as a double, as in libtorch.
struct EBB_API ASMoutput {
  ASMoutput(Variable output_, double loss_);
  Variable output;
  double loss;
};

/// log_softmax over frequent classes and over clusters of rarer classes. Clusters have narrower projections
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
  /// input is (N, in_features) or (in_features), target is (N) or a scalar tensor.
  ASMoutput forward(const Variable& input, const Variable& target);
  /// Returns the log-probabilities of all classes: (N, n_classes).
  Variable log_prob(const Variable& input);
  /// Returns the most likely class of each sample, (N). A cluster is evaluated only for the samples for which
  /// it is the most likely entry of the head.
  Variable predict(const Variable& input);
  /// Computes log_prob from the output of the head.
  Variable _get_full_log_prob(const Variable& input, const Variable& head_output);

  AdaptiveLogSoftmaxWithLossOptions options;
  std::vector<std::int64_t> cutoffs;  // the cutoffs of the options, followed by n_classes
  std::int64_t shortlist_size, n_clusters, head_size;
  Linear head = nullptr;
  ModuleList tail = nullptr;
};
EBB_LIBRARY_MODULE(AdaptiveLogSoftmaxWithLoss);

}  // namespace ebb::nn
