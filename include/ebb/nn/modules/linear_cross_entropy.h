// LinearCrossEntropyLoss: a linear map followed by cross-entropy, as a module.
#pragma once

#include <ebb/nn/functional/linear_cross_entropy.h>
#include <ebb/nn/modules/linear.h>

namespace ebb::nn {

/// Options of LinearCrossEntropyLoss.
class EBB_API LinearCrossEntropyLossOptions {
 public:
  LinearCrossEntropyLossOptions(std::int64_t in_features, std::int64_t num_classes)
      : in_features_(in_features), num_classes_(num_classes) {}

  EBB_ARG(std::int64_t, in_features);                 ///< features of a sample
  EBB_ARG(std::int64_t, num_classes);                 ///< C
  EBB_ARG(std::vector<std::int64_t>, out_features);   ///< d_1, ..., d_K; empty by default
  EBB_ARG(bool, bias) = false;                        ///< whether the linear map has a bias
  EBB_ARG(Variable, weight);                          ///< (C), weights of the classes
  EBB_ARG(reduction_t, reduction) = kMean;            ///< kMean, kSum or kNone
  EBB_ARG(std::int64_t, ignore_index) = -100;         ///< a target class that is ignored
  EBB_ARG(double, label_smoothing) = 0.0;             ///< weight of the uniform distribution in the target
  EBB_ARG(optional<std::int64_t>, batch_chunk_size);  ///< number of samples whose logits exist at a time
};

/// functional::linear_cross_entropy with a learned map, "linear", which has C d_1 ... d_K outputs. The weight
/// of the classes is a buffer (torch.nn.LinearCrossEntropyLoss).
class EBB_API LinearCrossEntropyLossImpl : public Cloneable<LinearCrossEntropyLossImpl> {
 public:
  LinearCrossEntropyLossImpl(std::int64_t in_features, std::int64_t num_classes)
      : LinearCrossEntropyLossImpl(LinearCrossEntropyLossOptions(in_features, num_classes)) {}
  explicit LinearCrossEntropyLossImpl(LinearCrossEntropyLossOptions options_);
  void reset() override;
  Variable forward(const Variable& input, const Variable& target);

  LinearCrossEntropyLossOptions options;
  Variable weight;
  Linear linear = nullptr;
};
EBB_LIBRARY_MODULE(LinearCrossEntropyLoss);

}  // namespace ebb::nn
