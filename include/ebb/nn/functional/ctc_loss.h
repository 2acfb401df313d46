// ctc_loss: connectionist temporal classification with options (torch::nn::functional).
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/arg.h>
#include <ebb/nn/functional/loss.h>

namespace ebb::nn {

/// Options of CTCLoss.
class EBB_API CTCLossOptions {
 public:
  using reduction_t = nn::reduction_t;

  EBB_ARG(std::int64_t, blank) = 0;      ///< index of the blank class
  EBB_ARG(reduction_t, reduction);       ///< mean (after division by target lengths), sum or none
  EBB_ARG(bool, zero_infinity) = false;  ///< sets infinite losses (no alignment) to 0
};

namespace functional {

using CTCLossFuncOptions = CTCLossOptions;

/// Computes ebb::ctc_loss. log_probs has the shape (T, N, C) or (T, C). targets has the shape (N, S), or
/// contains all targets concatenated. input_lengths and target_lengths contain the length of each sequence.
EBB_API Variable ctc_loss(const Variable& log_probs, const Variable& targets, const Variable& input_lengths,
                          const Variable& target_lengths, const CTCLossFuncOptions& options = {});

}  // namespace functional

}  // namespace ebb::nn
