// Attention of several heads with its projections (torch::nn::functional).
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/arg.h>

#include <tuple>
#include <utility>

namespace ebb::nn {

/// Options of MultiheadAttention: the width of queries and results, and the number of heads, which divides
/// it.
class EBB_API MultiheadAttentionOptions {
 public:
  MultiheadAttentionOptions(std::int64_t embed_dim, std::int64_t num_heads)
      : embed_dim_(embed_dim), num_heads_(num_heads), kdim_(embed_dim), vdim_(embed_dim) {}

  EBB_ARG(std::int64_t, embed_dim);      ///< width of queries and results
  EBB_ARG(std::int64_t, num_heads);      ///< divides embed_dim
  EBB_ARG(double, dropout) = 0.0;        ///< of the weights, in training
  EBB_ARG(bool, bias) = true;            ///< of the projections into and out of the heads
  EBB_ARG(bool, add_bias_kv) = false;    ///< appends a learnt key and value to every sequence
  EBB_ARG(bool, add_zero_attn) = false;  ///< appends a key and a value of zeros
  EBB_ARG(std::int64_t, kdim);           ///< width of keys, embed_dim unless given
  EBB_ARG(std::int64_t, vdim);           ///< width of values, embed_dim unless given
  EBB_ARG(bool, batch_first) = false;    ///< batched inputs and results are (N, L, E), not (L, N, E)
};

namespace functional {

/// Options of multi_head_attention_forward. Of the weights, either in_proj_weight (3 E, E), or, with
/// use_separate_proj_weight, q_proj_weight (E, E), k_proj_weight (E, kdim), v_proj_weight (E, vdim) are used.
class EBB_API MultiheadAttentionForwardFuncOptions {
 public:
  MultiheadAttentionForwardFuncOptions(std::int64_t embed_dim_to_check, std::int64_t num_heads,
                                       Variable in_proj_weight, Variable in_proj_bias, Variable bias_k,
                                       Variable bias_v, bool add_zero_attn, double dropout_p,
                                       Variable out_proj_weight, Variable out_proj_bias)
      : embed_dim_to_check_(embed_dim_to_check),
        num_heads_(num_heads),
        in_proj_weight_(std::move(in_proj_weight)),
        in_proj_bias_(std::move(in_proj_bias)),
        bias_k_(std::move(bias_k)),
        bias_v_(std::move(bias_v)),
        add_zero_attn_(add_zero_attn),
        dropout_p_(dropout_p),
        out_proj_weight_(std::move(out_proj_weight)),
        out_proj_bias_(std::move(out_proj_bias)) {}

  EBB_ARG(std::int64_t, embed_dim_to_check);        ///< E, the width of queries
  EBB_ARG(std::int64_t, num_heads);                 ///< divides E
  EBB_ARG(Variable, in_proj_weight);                ///< (3 E, E): of queries, keys, values
  EBB_ARG(Variable, in_proj_bias);                  ///< (3 E), or undefined
  EBB_ARG(Variable, bias_k);                        ///< (1, 1, E), a key appended to each sequence
  EBB_ARG(Variable, bias_v);                        ///< (1, 1, E), its value
  EBB_ARG(bool, add_zero_attn);                     ///< appends a key and a value of zeros
  EBB_ARG(double, dropout_p);                       ///< of the weights, in training
  EBB_ARG(Variable, out_proj_weight);               ///< (E, E)
  EBB_ARG(Variable, out_proj_bias);                 ///< (E), or undefined
  EBB_ARG(bool, training) = true;                   ///< whether weights are dropped
  EBB_ARG(Variable, key_padding_mask);              ///< (N, S) or (S): Bool, true keys are ignored; or added
  EBB_ARG(bool, need_weights) = true;               ///< returns the weights, which costs L * S memory
  EBB_ARG(Variable, attn_mask);                     ///< (L, S) or (N heads, L, S): as key_padding_mask
  EBB_ARG(bool, use_separate_proj_weight) = false;  ///< the three weights below in place of in_proj_weight
  EBB_ARG(Variable, q_proj_weight);                 ///< (E, E)
  EBB_ARG(Variable, k_proj_weight);                 ///< (E, kdim)
  EBB_ARG(Variable, v_proj_weight);                 ///< (E, vdim)
  EBB_ARG(Variable, static_k);                      ///< (N heads, S, E / heads), in place of projected keys
  EBB_ARG(Variable, static_v);                      ///< (N heads, S, E / heads), in place of projected values
  EBB_ARG(bool, average_attn_weights) = true;       ///< returns the mean weights of the heads
  EBB_ARG(bool, is_causal) = false;                 ///< promises that attn_mask is the causal one
};

/// Attention of num_heads heads, each of E / num_heads channels of the projected queries, keys and values,
/// whose results are projected by out_proj (Vaswani et al. 2017; torch.nn.functional's).
///
/// query (L, N, E), key (S, N, kdim) and value (S, N, vdim) give (L, N, E) and weights (N, L, S), or, where
/// they are not averaged, (N, heads, L, S); without the dimension N all are without. Masks are Bool, where
/// true forbids (other than in scaled_dot_product_attention), or floating and added to the scores.
/// Without need_weights the weights are undefined, and scaled_dot_product_attention computes the rest: no
/// L * S scores are kept. A query that may see no key gets zeros then, and NaN with need_weights, as in
/// PyTorch. `is_causal` needs attn_mask too, which is not looked at where the hint is enough.
/// Throws for shapes, dtypes or devices that do not fit.
EBB_API std::tuple<Variable, Variable> multi_head_attention_forward(
    const Variable& query, const Variable& key, const Variable& value,
    const MultiheadAttentionForwardFuncOptions& options);

}  // namespace functional

}  // namespace ebb::nn
