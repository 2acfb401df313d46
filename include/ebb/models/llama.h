// LLaMA: a decoder-only transformer, with Hugging Face's parameter names.
#pragma once

#include <ebb/models/generate.h>
#include <ebb/nn.h>
#include <ebb/serialize.h>

namespace ebb::models {

/// Options of LLaMA. The defaults are those of the 7-billion-parameter model (Hugging Face's LlamaConfig).
class EBB_API LlamaConfig {
 public:
  LlamaConfig(std::int64_t vocab_size = 32000) : vocab_size_(vocab_size) {}

  EBB_ARG(std::int64_t, vocab_size);                      ///< number of tokens
  EBB_ARG(std::int64_t, hidden_size) = 4096;              ///< model width
  EBB_ARG(std::int64_t, intermediate_size) = 11008;       ///< hidden width of the MLPs
  EBB_ARG(std::int64_t, num_hidden_layers) = 32;          ///< number of layers
  EBB_ARG(std::int64_t, num_attention_heads) = 32;        ///< number of query heads; divides hidden_size
  EBB_ARG(std::int64_t, num_key_value_heads) = 0;         ///< number of key and value heads; 0 means
                                                          ///< num_attention_heads
  EBB_ARG(std::int64_t, max_position_embeddings) = 2048;  ///< longest sequence
  EBB_ARG(double, rms_norm_eps) = 1e-6;                   ///< eps of the normalizations
  EBB_ARG(double, rope_theta) = 10000;                    ///< base of the rotation angles
  EBB_ARG(double, attention_dropout) = 0;                 ///< dropout of the attention weights
  EBB_ARG(double, initializer_range) = 0.02;              ///< standard deviation of initial weights
  EBB_ARG(bool, tie_word_embeddings) = false;             ///< lm_head.weight is model.embed_tokens.weight
};

/// Cosines and sines of the rotation angles of the positions (rotary embedding), each [T, E / 2].
struct RotaryTables {
  Variable cos, sin;
};

/// Causal multi-head self-attention with rotary position embedding (Su et al. 2021) and grouped queries that
/// share keys and values (Ainslie et al. 2023): [B, T, hidden_size] -> [B, T, hidden_size].
struct EBB_API LlamaAttentionImpl : nn::Cloneable<LlamaAttentionImpl> {
  LlamaAttentionImpl(const LlamaConfig& config, std::int64_t layer_idx);
  void reset() override;
  /// With a cache, x contains only the tokens that follow the tokens in the cache.
  Variable forward(const Variable& x, const RotaryTables& positions, KeyValueCache* cache = nullptr);

  LlamaConfig config;
  std::int64_t layer_idx;
  nn::Linear q_proj = nullptr, k_proj = nullptr, v_proj = nullptr, o_proj = nullptr;
};
EBB_MODULE(LlamaAttention);

/// SwiGLU (Shazeer 2020): W_down (silu(W_gate x) * W_up x).
struct EBB_API LlamaMLPImpl : nn::Cloneable<LlamaMLPImpl> {
  explicit LlamaMLPImpl(const LlamaConfig& config);
  void reset() override;
  Variable forward(const Variable& x);

  LlamaConfig config;
  nn::Linear gate_proj = nullptr, up_proj = nullptr, down_proj = nullptr;
};
EBB_MODULE(LlamaMLP);

/// Computes y = x + self_attn(input_layernorm(x)) and returns y + mlp(post_attention_layernorm(y)).
struct EBB_API LlamaDecoderLayerImpl : nn::Cloneable<LlamaDecoderLayerImpl> {
  LlamaDecoderLayerImpl(const LlamaConfig& config, std::int64_t layer_idx);
  void reset() override;
  Variable forward(const Variable& x, const RotaryTables& positions, KeyValueCache* cache = nullptr);

  LlamaConfig config;
  std::int64_t layer_idx;
  LlamaAttention self_attn = nullptr;
  LlamaMLP mlp = nullptr;
  nn::RMSNorm input_layernorm = nullptr, post_attention_layernorm = nullptr;
};
EBB_MODULE(LlamaDecoderLayer);

/// The embedding, the layers and the final normalization: ids [B, T] -> [B, T, hidden_size].
struct EBB_API LlamaModelImpl : nn::Cloneable<LlamaModelImpl> {
  explicit LlamaModelImpl(const LlamaConfig& config);
  void reset() override;
  Variable forward(const Variable& ids);
  /// `ids` are the tokens that follow the tokens in the cache. Appends their keys and values to the cache.
  Variable forward_with_cache(const Variable& ids, KeyValueCache& cache);

  LlamaConfig config;
  nn::Embedding embed_tokens = nullptr;
  nn::ModuleList layers = nullptr;  // LlamaDecoderLayer modules
  nn::RMSNorm norm = nullptr;

 private:
  Variable run(const Variable& ids, KeyValueCache* cache);
};
EBB_MODULE(LlamaModel);

/// The language model LLaMA (Touvron et al. 2023). Weights have the names and layout of Hugging Face's
/// LlamaForCausalLM: model.embed_tokens.weight, model.layers.0.self_attn.q_proj.weight, ..., lm_head.weight.
/// As in LlamaForCausalLM, rotations act on the channel pairs (i, i + E / 2). Initial weights are N(0,
/// initializer_range^2), and initial scales are 1. rope_scaling of some later models is not supported.
///
///     LlamaForCausalLM net = nn::utils::skip_init<LlamaForCausalLM>(
///         LlamaConfig().hidden_size(2048).intermediate_size(5632).num_hidden_layers(22)
///             .num_key_value_heads(4).rms_norm_eps(1e-5));
///     load(net, "TinyLlama-1.1B/model.safetensors", net->load_options());
///     net->eval();
///     Tensor text = net->generate(ids, 50, GenerateOptions().temperature(0.8).top_p(0.9));
///
/// Throws for an invalid number of heads or an invalid width, for ids that are not Long [B, T], and for T >
/// max_position_embeddings.
struct EBB_API LlamaForCausalLMImpl : nn::Cloneable<LlamaForCausalLMImpl> {
  explicit LlamaForCausalLMImpl(const LlamaConfig& config = {});
  void reset() override;
  void tie_weights() override;
  /// Returns logits [B, T, vocab_size] of the next token at each position, for ids [B, T].
  Variable forward(const Variable& ids);
  /// Returns the logits for `ids`, which follow the tokens in the cache. Appends their keys and values to the
  /// cache.
  Variable forward_with_cache(const Variable& ids, KeyValueCache& cache);
  /// Appends max_new_tokens generated tokens to ids [B, T] and returns [B, T + max_new_tokens]. Records no
  /// graph. Throws if the result is longer than max_position_embeddings.
  Variable generate(const Variable& ids, std::int64_t max_new_tokens, const GenerateOptions& options = {});
  /// Returns options with which load() reads published files. They ignore rotary_emb.inv_freq of older files.
  /// lm_head.weight may be missing in the file if it is tied to the embedding.
  LoadOptions load_options() const;

  LlamaConfig config;
  LlamaModel model = nullptr;
  nn::Linear lm_head = nullptr;
};
EBB_MODULE(LlamaForCausalLM);

}  // namespace ebb::models
