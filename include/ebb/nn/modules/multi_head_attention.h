// MultiheadAttention as a module.
#pragma once

#include <ebb/nn/functional/multi_head_attention.h>
#include <ebb/nn/modules/linear.h>

namespace ebb::nn {

/// Multi-head attention (functional::multi_head_attention_forward; torch::nn::MultiheadAttention, with
/// batch_first, average_attn_weights and is_causal of Python).
/// - The projection has the parameter in_proj_weight (Xavier uniform). If kdim or vdim differ from embed_dim,
///   it has q_proj_weight, k_proj_weight and v_proj_weight instead.
/// - in_proj_bias and out_proj.bias are initially 0. out_proj.weight is initialized as in Linear.
/// - bias_k and bias_v are Xavier normal.
class EBB_API MultiheadAttentionImpl : public Cloneable<MultiheadAttentionImpl> {
 public:
  MultiheadAttentionImpl(std::int64_t embed_dim, std::int64_t num_heads)
      : MultiheadAttentionImpl(MultiheadAttentionOptions(embed_dim, num_heads)) {}
  explicit MultiheadAttentionImpl(const MultiheadAttentionOptions& options_);
  void reset() override;
  void _reset_parameters();

  /// Returns the result, and the weights or an undefined tensor. Batched tensors are (L, N, E), or (N, L, E)
  /// with batch_first. Masks and weights are as in functional::multi_head_attention_forward.
  std::tuple<Variable, Variable> forward(const Variable& query, const Variable& key, const Variable& value,
                                         const Variable& key_padding_mask = {}, bool need_weights = true,
                                         const Variable& attn_mask = {}, bool average_attn_weights = true,
                                         bool is_causal = false);

  MultiheadAttentionOptions options;
  bool _qkv_same_embed_dim = true;
  Variable in_proj_weight;  // (3 E, E), or undefined
  Variable in_proj_bias;    // (3 E), or undefined
  Linear out_proj = nullptr;
  Variable bias_k, bias_v;                               // (1, 1, E), or undefined
  Variable q_proj_weight, k_proj_weight, v_proj_weight;  // (E, E), (E, kdim), (E, vdim), or undefined
  std::int64_t head_dim = 0;
};
EBB_LIBRARY_MODULE(MultiheadAttention);

}  // namespace ebb::nn
