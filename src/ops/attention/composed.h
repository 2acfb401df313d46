// The gradients of attention as differentiable ops, for second derivatives.
#pragma once

#include <ebb/autograd/node.h>

#include "ops/attention/kernels.h"

namespace ebb::ops {

/// The inputs of a call, with four dimensions. The mask may be undefined, and its sizes may be 1.
struct AttentionInputs {
  Variable query, key, value, mask;
};

/// Returns the gradients of query, key, value and mask that `node` needs, from the gradient of the result.
/// The mask's gradient has the shape of the scores. `rule.mask` is ignored.
autograd::GradList composed_attention_backward(const autograd::Node& node, const Variable& grad,
                                               const AttentionInputs& in, const AttentionRule& rule);

}  // namespace ebb::ops
