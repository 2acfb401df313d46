// TripletMarginWithDistanceLoss: triplet loss with any distance, as a module.
#pragma once

#include <ebb/nn/functional/triplet_loss.h>
#include <ebb/nn/stateless.h>

namespace ebb::nn {

/// functional::triplet_margin_with_distance_loss with its options.
struct EBB_API TripletMarginWithDistanceLossImpl
    : detail::Stateless<TripletMarginWithDistanceLossImpl, TripletMarginWithDistanceLossOptions, Variable,
                        Variable, Variable> {
  using Stateless::Stateless;
};
EBB_LIBRARY_MODULE(TripletMarginWithDistanceLoss);

}  // namespace ebb::nn
