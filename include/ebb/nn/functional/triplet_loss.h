// The triplet loss of any distance, with options (torch::nn::functional).
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/arg.h>
#include <ebb/nn/functional/loss.h>

#include <functional>

namespace ebb::nn {

/// Options of TripletMarginWithDistanceLoss.
class EBB_API TripletMarginWithDistanceLossOptions {
 public:
  using reduction_t = nn::reduction_t;
  using distance_function_t = std::function<Variable(const Variable&, const Variable&)>;

  EBB_ARG(optional<distance_function_t>, distance_function);  ///< pairwise_distance unless set
  EBB_ARG(double, margin) = 1.0;                              ///< distance to keep
  EBB_ARG(bool, swap) = false;                                ///< takes the nearer of anchor and positive
  EBB_ARG(reduction_t, reduction);                            ///< mean, sum or none
};

namespace functional {

using TripletMarginWithDistanceLossFuncOptions = TripletMarginWithDistanceLossOptions;

/// max(d(anchor, positive) - d(anchor, negative) + margin, 0).
EBB_API Variable
triplet_margin_with_distance_loss(const Variable& anchor, const Variable& positive, const Variable& negative,
                                  const TripletMarginWithDistanceLossFuncOptions& options = {});

}  // namespace functional

}  // namespace ebb::nn
