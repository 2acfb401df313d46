// The gradients of attention by differentiable ops: what gradients of gradients use.
#pragma once

#include <ebb/autograd/node.h>

#include "ops/attention/kernels.h"

namespace ebb::ops {

/// The inputs of a call, of four dimensions; the mask, whose sizes may be 1, may be undefined.
struct AttentionInputs {
  Variable query, key, value, mask;
};

/// The gradients of query, key, value and mask that `node` needs, from that of the result. The mask's is in
/// the shape of the scores. `rule.mask` is not looked at.
autograd::GradList composed_attention_backward(const autograd::Node& node, const Variable& grad,
                                               const AttentionInputs& in, const AttentionRule& rule);

}  // namespace ebb::ops
