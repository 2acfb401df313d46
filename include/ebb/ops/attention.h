// Attention: values averaged by how well their keys answer a query.
#pragma once

#include <ebb/autograd/variable.h>

namespace ebb {

/// softmax(query key^T * scale + mask) value, for each head by itself
/// (torch.nn.functional.scaled_dot_product_attention).
///
/// Shapes: query (N..., H, L, E), key (N..., H, S, E), value (N..., H, S, Ev) give (N..., H, L, Ev); two or
/// more dimensions, of which all but the last two broadcast. Dtypes: Float, Double, Half, BFloat16, one for
/// all three; 16-bit numbers are summed in float.
///
/// `attn_mask`, which broadcasts to (N..., H, L, S), is Bool (true: the key may be attended to) or is added
/// to the scores (of query's dtype or Float; it may want a gradient). `is_causal` lets query i see the keys
/// 0 ... i, also where L != S; not together with a mask. A query that may see no key gets zeros, and so do
/// the gradients through it. `dropout_p` drops weights after the softmax, whatever the mode: pass 0 in
/// evaluation. `scale` is 1 / sqrt(E) unless given. With `enable_gqa` H may be a multiple of the heads of
/// key and value: neighbouring heads of query then share one (Ainslie et al. 2023).
///
/// Scores are never in memory as a whole: results and first derivatives take memory proportional to L + S
/// (Dao 2023, FlashAttention-2), and are bitwise the same at every run. Derivatives of derivatives are made
/// of other ops, which keep all L * S scores. Throws for shapes, dtypes or devices that do not fit.
EBB_API Variable scaled_dot_product_attention(const Variable& query, const Variable& key,
                                              const Variable& value, const optional<Variable>& attn_mask = {},
                                              double dropout_p = 0.0, bool is_causal = false,
                                              optional<double> scale = {}, bool enable_gqa = false);

}  // namespace ebb
