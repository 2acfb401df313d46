// The triplet loss of any distance: the function, and the module.
#include <ebb/nn/modules/triplet_loss.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/norm.h>
#include <ebb/ops/reduce.h>

#include "nn/stateless.h"

namespace ebb::nn {

namespace functional {

Variable triplet_margin_with_distance_loss(const Variable& anchor, const Variable& positive,
                                           const Variable& negative,
                                           const TripletMarginWithDistanceLossFuncOptions& o) {
  EBB_CHECK(anchor.defined() && positive.defined() && negative.defined() && anchor.dim() == positive.dim() &&
                anchor.dim() == negative.dim(),
            "triplet_margin_with_distance_loss: The anchor, positive, and negative tensors are expected to "
            "have the same number of "
            "dimensions.");
  EBB_CHECK(o.margin() > 0, "triplet_margin_with_distance_loss: margin must be greater than 0, got ",
            o.margin(), ".");
  const auto distance = [&](const Variable& a, const Variable& b) {
    return o.distance_function() ? (*o.distance_function())(a, b) : ebb::pairwise_distance(a, b);
  };
  const Variable near = distance(anchor, positive);
  Variable far = distance(anchor, negative);
  if (o.swap()) far = minimum(far, distance(positive, negative));
  const Variable loss = (near - far + o.margin()).clamp_min(0);
  return o.reduction() == kNone ? loss : o.reduction() == kMean ? loss.mean() : loss.sum();
}

}  // namespace functional

static void print(Fields& out, const TripletMarginWithDistanceLossOptions& o) {
  out("margin", o.margin())("swap", o.swap());
}
EBB_STATELESS_AS(functional::triplet_margin_with_distance_loss, TripletMarginWithDistanceLossImpl,
                 TripletMarginWithDistanceLossOptions, Variable, Variable, Variable);

}  // namespace ebb::nn
