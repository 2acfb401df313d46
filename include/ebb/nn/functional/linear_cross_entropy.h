// linear_cross_entropy: a linear map followed by cross-entropy, in one op (torch.nn.functional, 2.15).
#pragma once

#include <ebb/nn/functional/loss.h>

namespace ebb::nn::functional {

/// Options of linear_cross_entropy.
class EBB_API LinearCrossEntropyFuncOptions {
  EBB_ARG(Variable, linear_bias);                     ///< (C, d_1, ..., d_K), or undefined
  EBB_ARG(Variable, weight);                          ///< (C), weights of the classes
  EBB_ARG(reduction_t, reduction) = kMean;            ///< kMean, kSum or kNone
  EBB_ARG(std::int64_t, ignore_index) = -100;         ///< a target class that is ignored
  EBB_ARG(double, label_smoothing) = 0.0;             ///< weight of the uniform distribution in the target
  EBB_ARG(optional<std::int64_t>, batch_chunk_size);  ///< number of samples whose logits exist at a time
};

/// Computes cross_entropy(linear(input, linear_weight, linear_bias), target). input is (N, in) or (in), and
/// linear_weight is (C, d_1, ..., d_K, in). target has the form that cross_entropy accepts for logits (N, C,
/// d_1, ..., d_K). With batch_chunk_size only the logits of that many samples exist at a time, and backward
/// recomputes them. Without it, the logits are a buffer of N * C elements, which is large if C is the size of
/// a vocabulary (torch.nn.functional.linear_cross_entropy; LinearCrossEntropyOptions::batch_chunk_size).
/// Gradients of any order equal the gradients of the two separate ops.
EBB_API Variable linear_cross_entropy(const Variable& input, const Variable& linear_weight,
                                      const Variable& target,
                                      const LinearCrossEntropyFuncOptions& options = {});

}  // namespace ebb::nn::functional
