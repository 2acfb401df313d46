// triplet_margin_with_distance_loss: triplet loss with any distance, with options (torch::nn::functional).
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

  EBB_ARG(optional<distance_function_t>, distance_function);  ///< default: pairwise_distance
  EBB_ARG(double, margin) = 1.0;                              ///< required distance
  EBB_ARG(bool, swap) = false;                                ///< replaces d(a, n) by min(d(a, n), d(p, n))
  EBB_ARG(reduction_t, reduction);                            ///< mean, sum or none
};

namespace functional {

using TripletMarginWithDistanceLossFuncOptions = TripletMarginWithDistanceLossOptions;

/// Computes max(d(anchor, positive) - d(anchor, negative) + margin, 0).
EBB_API Variable
triplet_margin_with_distance_loss(const Variable& anchor, const Variable& positive, const Variable& negative,
                                  const TripletMarginWithDistanceLossFuncOptions& options = {});

}  // namespace functional

}  // namespace ebb::nn
