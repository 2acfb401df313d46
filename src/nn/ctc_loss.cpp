// Connectionist temporal classification: the function, and the module.
#include <ebb/nn/modules/ctc_loss.h>
#include <ebb/ops/ctc_loss.h>

#include "nn/stateless.h"

namespace ebb::nn {

namespace functional {

Variable ctc_loss(const Variable& log_probs, const Variable& targets, const Variable& input_lengths,
                  const Variable& target_lengths, const CTCLossFuncOptions& o) {
  const std::int64_t reduction = o.reduction() == kNone   ? Reduction::None
                                 : o.reduction() == kMean ? Reduction::Mean
                                                          : Reduction::Sum;
  return ebb::ctc_loss(log_probs, targets, input_lengths, target_lengths, o.blank(), reduction,
                       o.zero_infinity());
}

}  // namespace functional

EBB_STATELESS_AS(functional::ctc_loss, CTCLossImpl, CTCLossOptions, Variable, Variable, Variable, Variable);

}  // namespace ebb::nn
