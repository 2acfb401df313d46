// Kernel slots of attention. Arrays have four dimensions: query and result (N, H, L, .), key and value
// (N, H / g, S, .), where g neighbouring heads of query share one of key and value. Query, key and value have
// any strides but 1 along the last dimension; results and gradients are contiguous.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/slot_list.h"
#include "ops/common/dropout_rule.h"

namespace ebb {

namespace ops {

/// What attention does beside multiplying.
struct AttentionRule {
  double scale = 1;
  bool causal = false;
  NdArray mask;  // none, or (N, H, L, S) in any strides: Bool, Float or of query's dtype
  optional<drawing::Dropout> dropout;
};

/// The inputs of attention, and what its forward pass gave.
struct AttentionSaved {
  NdArray query, key, value;
  NdArray result;
  NdArray log_sum;  // (N, H, L), of the exponentials of a row's scores; infinity where no key may be seen
  AttentionRule rule;
};

/// Undefined where nobody asks.
struct AttentionGrads {
  NdArray query, key, value;
};

}  // namespace ops

namespace cpu {
/// result = softmax(query key^T * scale + mask) value, and log_sum. Both are Double for Double, log_sum is
/// Float for all others.
void attention(ops::AttentionSaved& call);
/// The gradients, from that of the result, which is contiguous.
void attention_backward(ops::AttentionGrads& out, const NdArray& grad, const ops::AttentionSaved& call);
/// The gradient of a mask, whose sizes are the scores' or 1.
void attention_mask_backward(NdArray& out, const NdArray& grad, const ops::AttentionSaved& call);
/// out (N, H, L, S; Float or Double) = the factors by which dropout multiplies the weights.
void attention_dropout(NdArray& out, const drawing::Dropout& rule);
}  // namespace cpu

}  // namespace ebb

#define EBB_ATTENTION_KERNELS(X)                              \
  X(attention, "scaled_dot_product_attention");               \
  X(attention_backward, "scaled_dot_product_attention");      \
  X(attention_mask_backward, "scaled_dot_product_attention"); \
  X(attention_dropout, "scaled_dot_product_attention");
EBB_DECLARE_KERNELS(EBB_ATTENTION_KERNELS)
