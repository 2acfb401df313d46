// A linear map and the cross-entropy of its result in one (torch.nn.functional, 2.15).
#pragma once

#include <ebb/nn/functional/loss.h>

namespace ebb::nn::functional {

/// Options of linear_cross_entropy.
class EBB_API LinearCrossEntropyFuncOptions {
  EBB_ARG(Variable, linear_bias);                     ///< (C, d_1, ..., d_K), or undefined
  EBB_ARG(Variable, weight);                          ///< (C), of the classes
  EBB_ARG(reduction_t, reduction) = kMean;            ///< kMean, kSum or kNone
  EBB_ARG(std::int64_t, ignore_index) = -100;         ///< a class that counts as nothing
  EBB_ARG(double, label_smoothing) = 0.0;             ///< share that is spread over all classes
  EBB_ARG(optional<std::int64_t>, batch_chunk_size);  ///< samples whose logits are in memory at a time
};

/// cross_entropy(linear(input, linear_weight, linear_bias), target): input (N, in) or (in), linear_weight
/// (C, d_1, ..., d_K, in), target as cross_entropy's for logits (N, C, d_1, ..., d_K). With batch_chunk_size
/// the logits of that many samples exist at a time: backward computes them anew, so that no N * C numbers are
/// kept, which pays where C, a vocabulary, is far above the width (torch.nn.functional.linear_cross_entropy;
/// LinearCrossEntropyOptions::batch_chunk_size). Gradients are those of the two ops either way, to any order.
EBB_API Variable linear_cross_entropy(const Variable& input, const Variable& linear_weight,
                                      const Variable& target,
                                      const LinearCrossEntropyFuncOptions& options = {});

}  // namespace ebb::nn::functional
