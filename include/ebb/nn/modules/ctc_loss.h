// CTCLoss: connectionist temporal classification as a module.
#pragma once

#include <ebb/nn/functional/ctc_loss.h>
#include <ebb/nn/stateless.h>

namespace ebb::nn {

/// functional::ctc_loss with its options: forward(log_probs, targets, input_lengths, target_lengths).
struct EBB_API CTCLossImpl
    : detail::Stateless<CTCLossImpl, CTCLossOptions, Variable, Variable, Variable, Variable> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(CTCLoss);

}  // namespace ebb::nn
