// scaled_dot_product_attention: softmax(Q K^T * scale + mask) V.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

/// Computes softmax(query key^T * scale + mask) value for each head
/// (torch.nn.functional.scaled_dot_product_attention).
///
/// Shapes: query (N..., H, L, E), key (N..., H, S, E), value (N..., H, S, Ev) give (N..., H, L, Ev). There
/// are two or more dimensions; all except the last two broadcast. The dtype is Float, Double, Half or
/// BFloat16, the same for all three. 16-bit inputs are accumulated in float.
///
/// `attn_mask` broadcasts to (N..., H, L, S). It is Bool (true: attend to the key), or it is added to the
/// scores (query's dtype or Float; it may require grad). With `is_causal` query i attends to keys 0 ... i,
/// also if L != S; a mask is then an error. A query whose keys are all masked gives zeros, and its gradients
/// are zeros. `dropout_p` drops weights after the softmax in any mode: pass 0 in evaluation. The default
/// `scale` is 1 / sqrt(E). With `enable_gqa` H may be a multiple of the number of heads of key and value:
/// consecutive heads of query then share a head of key and value (Ainslie et al. 2023).
///
/// Scores are never stored as a whole: results and first derivatives need memory proportional to L + S (Dao
/// 2023, FlashAttention-2), and are bitwise equal in every run. Second derivatives are composed of other ops,
/// which store all L * S scores. Throws for shapes, dtypes or devices that do not match.
EBB_API Variable scaled_dot_product_attention(const Variable& query, const Variable& key,
                                              const Variable& value, const optional<Variable>& attn_mask = {},
                                              double dropout_p = 0.0, bool is_causal = false,
                                              optional<double> scale = {}, bool enable_gqa = false);

}  // namespace ebb
