// A linear map and the cross-entropy of its result as a module.
#pragma once

#include <ebb/nn/functional/linear_cross_entropy.h>
#include <ebb/nn/modules/linear.h>

namespace ebb::nn {

/// Options of LinearCrossEntropyLoss.
class EBB_API LinearCrossEntropyLossOptions {
 public:
  LinearCrossEntropyLossOptions(std::int64_t in_features, std::int64_t num_classes)
      : in_features_(in_features), num_classes_(num_classes) {}

  EBB_ARG(std::int64_t, in_features);                 ///< of a sample
  EBB_ARG(std::int64_t, num_classes);                 ///< C
  EBB_ARG(std::vector<std::int64_t>, out_features);   ///< d_1, ..., d_K; none unless given
  EBB_ARG(bool, bias) = false;                        ///< of the linear map
  EBB_ARG(Variable, weight);                          ///< (C), of the classes
  EBB_ARG(reduction_t, reduction) = kMean;            ///< kMean, kSum or kNone
  EBB_ARG(std::int64_t, ignore_index) = -100;         ///< a class that counts as nothing
  EBB_ARG(double, label_smoothing) = 0.0;             ///< share that is spread over all classes
  EBB_ARG(optional<std::int64_t>, batch_chunk_size);  ///< samples whose logits are in memory at a time
};

/// functional::linear_cross_entropy with a map of its own, "linear", of C d_1 ... d_K results; weight is a
/// buffer (torch.nn.LinearCrossEntropyLoss).
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
