// Kernel slots of attention. Arrays have four dimensions: query and result (N, H, L, .), key and value (N, H
// / g, S, .), where g adjacent query heads share one head of key and value. In query, key and value only the
// last dimension must be contiguous; results and gradients are contiguous.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/call/slot.h"
#include "ops/common/dropout.h"

namespace ebb {

namespace ops {

/// Options of attention.
struct AttentionRule {
  double scale = 1;
  bool causal = false;
  NdArray mask;  // undefined, or (N, H, L, S) with any strides: Bool, Float or the dtype of query
  optional<random::Dropout> dropout;
};

/// The inputs of attention and the results of its forward pass.
struct AttentionSaved {
  NdArray query, key, value;
  NdArray result;
  NdArray log_sum;  // (N, H, L): the logarithm of the sum of the exponentials of a row; infinity if no
                    // key is visible
  AttentionRule rule;
};

/// The gradients to compute. A gradient that is not needed is undefined.
struct AttentionGrads {
  NdArray query, key, value;
};

}  // namespace ops

namespace cpu {
/// Computes result = softmax(query key^T * scale + mask) value, and log_sum. log_sum is Double for Double
/// inputs, otherwise Float.
void attention_forward(ops::AttentionSaved& call);
/// Computes the gradients of the inputs from the gradient of the result, which is contiguous.
void attention_backward(ops::AttentionGrads& out, const NdArray& grad, const ops::AttentionSaved& call);
/// Computes the gradient of a mask, which has the shape of the scores, except that sizes may be 1.
void attention_mask_backward(NdArray& out, const NdArray& grad, const ops::AttentionSaved& call);
/// Sets out (N, H, L, S; Float or Double) to the factors by which dropout multiplies the weights.
void attention_dropout(NdArray& out, const random::Dropout& rule);
}  // namespace cpu

}  // namespace ebb

#define EBB_ATTENTION_KERNELS(X)                              \
  X(attention_forward, "scaled_dot_product_attention");       \
  X(attention_backward, "scaled_dot_product_attention");      \
  X(attention_mask_backward, "scaled_dot_product_attention"); \
  X(attention_dropout, "scaled_dot_product_attention");
EBB_DECLARE_KERNELS(EBB_ATTENTION_KERNELS)
