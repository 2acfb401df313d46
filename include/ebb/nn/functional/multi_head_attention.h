// multi_head_attention_forward: multi-head attention with its projections (torch::nn::functional).
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/arg.h>

#include <tuple>
#include <utility>

namespace ebb::nn {

/// Options of MultiheadAttention.
class EBB_API MultiheadAttentionOptions {
 public:
  MultiheadAttentionOptions(std::int64_t embed_dim, std::int64_t num_heads)
      : embed_dim_(embed_dim), num_heads_(num_heads), kdim_(embed_dim), vdim_(embed_dim) {}

  EBB_ARG(std::int64_t, embed_dim);      ///< width of queries and results
  EBB_ARG(std::int64_t, num_heads);      ///< divides embed_dim
  EBB_ARG(double, dropout) = 0.0;        ///< dropout probability of the weights in training
  EBB_ARG(bool, bias) = true;            ///< whether the input and output projections have a bias
  EBB_ARG(bool, add_bias_kv) = false;    ///< appends a learned key and value to each sequence
  EBB_ARG(bool, add_zero_attn) = false;  ///< appends a key and a value of zeros
  EBB_ARG(std::int64_t, kdim);           ///< width of keys; embed_dim by default
  EBB_ARG(std::int64_t, vdim);           ///< width of values; embed_dim by default
  EBB_ARG(bool, batch_first) = false;    ///< batched inputs and results are (N, L, E), not (L, N, E)
};

namespace functional {

/// Options of multi_head_attention_forward. The projection uses in_proj_weight (3 E, E). With
/// use_separate_proj_weight it uses q_proj_weight (E, E), k_proj_weight (E, kdim) and v_proj_weight (E, vdim)
/// instead.
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
  EBB_ARG(Variable, in_proj_weight);                ///< (3 E, E): queries, keys, values
  EBB_ARG(Variable, in_proj_bias);                  ///< (3 E), or undefined
  EBB_ARG(Variable, bias_k);                        ///< (1, 1, E), a key appended to each sequence
  EBB_ARG(Variable, bias_v);                        ///< (1, 1, E), the value for bias_k
  EBB_ARG(bool, add_zero_attn);                     ///< appends a key and a value of zeros
  EBB_ARG(double, dropout_p);                       ///< dropout probability of the weights in training
  EBB_ARG(Variable, out_proj_weight);               ///< (E, E)
  EBB_ARG(Variable, out_proj_bias);                 ///< (E), or undefined
  EBB_ARG(bool, training) = true;                   ///< whether dropout is applied
  EBB_ARG(Variable, key_padding_mask);              ///< (N, S) or (S): Bool (true: ignored), or added
  EBB_ARG(bool, need_weights) = true;               ///< returns the weights, which need L * S memory
  EBB_ARG(Variable, attn_mask);                     ///< (L, S) or (N heads, L, S): like key_padding_mask
  EBB_ARG(bool, use_separate_proj_weight) = false;  ///< uses the three weights below
  EBB_ARG(Variable, q_proj_weight);                 ///< (E, E)
  EBB_ARG(Variable, k_proj_weight);                 ///< (E, kdim)
  EBB_ARG(Variable, v_proj_weight);                 ///< (E, vdim)
  EBB_ARG(Variable, static_k);                      ///< (N heads, S, E / heads), replaces projected keys
  EBB_ARG(Variable, static_v);                      ///< (N heads, S, E / heads), replaces projected values
  EBB_ARG(bool, average_attn_weights) = true;       ///< returns the weights averaged over the heads
  EBB_ARG(bool, is_causal) = false;                 ///< declares that attn_mask is the causal mask
};

/// Multi-head attention. Each of num_heads heads works on E / num_heads channels of the projected queries,
/// keys and values. out_proj projects the concatenated results (Vaswani et al. 2017; torch.nn.functional).
///
/// query (L, N, E), key (S, N, kdim) and value (S, N, vdim) give (L, N, E). The weights have the shape (N, L,
/// S), or (N, heads, L, S) if they are not averaged. Without a batch, no tensor has the dimension N. Masks
/// are Bool, where true excludes a key (in contrast to scaled_dot_product_attention), or floating-point and
/// added to the scores. Without need_weights the weights are undefined, and scaled_dot_product_attention
/// computes the result without an L * S buffer. A query whose keys are all masked then gives zeros; with
/// need_weights it gives NaN, as in PyTorch. With `is_causal`, attn_mask must be given too and must be the
/// causal mask. It is read only with need_weights or with a key_padding_mask. Throws for shapes, dtypes or
/// devices that do not match.
EBB_API std::tuple<Variable, Variable> multi_head_attention_forward(
    const Variable& query, const Variable& key, const Variable& value,
    const MultiheadAttentionForwardFuncOptions& options);

}  // namespace functional

}  // namespace ebb::nn
