// LLaMA under Hugging Face's names.
#pragma once

#include <ebb/models/generate.h>
#include <ebb/nn.h>
#include <ebb/serialize.h>

namespace ebb::models {

/// Options of LLaMA; the defaults are those of the one of 7 billion parameters (Hugging Face's LlamaConfig).
class EBB_API LlamaConfig {
 public:
  LlamaConfig(std::int64_t vocab_size = 32000) : vocab_size_(vocab_size) {}

  EBB_ARG(std::int64_t, vocab_size);                 ///< number of tokens
  EBB_ARG(std::int64_t, hidden_size) = 4096;         ///< width
  EBB_ARG(std::int64_t, intermediate_size) = 11008;  ///< width within the MLPs
  EBB_ARG(std::int64_t, num_hidden_layers) = 32;     ///< number of layers
  EBB_ARG(std::int64_t, num_attention_heads) = 32;   ///< heads of queries, whose number divides the width
  EBB_ARG(std::int64_t, num_key_value_heads) = 0;    ///< heads of keys and values; 0: as of queries
  EBB_ARG(std::int64_t, max_position_embeddings) = 2048;  ///< longest sequence
  EBB_ARG(double, rms_norm_eps) = 1e-6;                   ///< of the normalisations
  EBB_ARG(double, rope_theta) = 10000;                    ///< slows the rotations down
  EBB_ARG(double, attention_dropout) = 0;                 ///< dropout of attention's weights
  EBB_ARG(double, initializer_range) = 0.02;              ///< standard deviation that weights start with
  EBB_ARG(bool, tie_word_embeddings) = false;             ///< lm_head.weight is model.embed_tokens.weight
};

/// Cosines and sines [T, E / 2] of the angles by which positions turn the halves of a head's channels.
struct RotaryTables {
  Variable cos, sin;
};

/// Attention to oneself and what came before, with rotary positions (Su et al. 2021) and groups of queries
/// that share keys and values (Ainslie et al. 2023): [B, T, hidden_size] to the same.
struct EBB_API LlamaAttentionImpl : nn::Cloneable<LlamaAttentionImpl> {
  LlamaAttentionImpl(const LlamaConfig& config, std::int64_t layer_idx);
  void reset() override;
  /// With a cache x are the tokens after those that it knows.
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

/// x + self_attn(input_layernorm(x)), and that y + mlp(post_attention_layernorm(y)).
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

/// The layers between the embedding and the last normalisation: ids [B, T] to [B, T, hidden_size].
struct EBB_API LlamaModelImpl : nn::Cloneable<LlamaModelImpl> {
  explicit LlamaModelImpl(const LlamaConfig& config);
  void reset() override;
  Variable forward(const Variable& ids);
  /// ids follow those that the cache knows, and are added to it.
  Variable forward_with_cache(const Variable& ids, KeyValueCache& cache);

  LlamaConfig config;
  nn::Embedding embed_tokens = nullptr;
  nn::ModuleList layers = nullptr;  // of LlamaDecoderLayer
  nn::RMSNorm norm = nullptr;

 private:
  Variable run(const Variable& ids, KeyValueCache* cache);
};
EBB_MODULE(LlamaModel);

/// The language model LLaMA (Touvron et al. 2023), with the names and layout of the weights of Hugging Face's
/// LlamaForCausalLM: model.embed_tokens.weight, model.layers.0.self_attn.q_proj.weight, ..., lm_head.weight;
/// the rotations turn channel i with channel i + E / 2, as there. Weights start from N(0,
/// initializer_range^2), scales from 1. rope_scaling, which some later models have, is not there.
///
///     LlamaForCausalLM net = nn::utils::skip_init<LlamaForCausalLM>(
///         LlamaConfig().hidden_size(2048).intermediate_size(5632).num_hidden_layers(22)
///             .num_key_value_heads(4).rms_norm_eps(1e-5));
///     load(net, "TinyLlama-1.1B/model.safetensors", net->load_options());
///     net->eval();
///     Tensor text = net->generate(ids, 50, GenerateOptions().temperature(0.8).top_p(0.9));
///
/// Heads or widths that do not fit are an error; so are ids that are not Long [B, T], or longer than
/// max_position_embeddings.
struct EBB_API LlamaForCausalLMImpl : nn::Cloneable<LlamaForCausalLMImpl> {
  explicit LlamaForCausalLMImpl(const LlamaConfig& config = {});
  void reset() override;
  void tie_weights() override;
  /// ids [B, T] to logits [B, T, vocab_size], of the token after each.
  Variable forward(const Variable& ids);
  /// The same of ids that follow those that the cache knows; they are added to it.
  Variable forward_with_cache(const Variable& ids, KeyValueCache& cache);
  /// ids [B, T] with max_new_tokens further ones, [B, T + max_new_tokens], records nothing. Throws where the
  /// result is longer than max_position_embeddings.
  Variable generate(const Variable& ids, std::int64_t max_new_tokens, const GenerateOptions& options = {});
  /// How load() reads published files: without the frequencies that older ones keep as rotary_emb.inv_freq.
  /// lm_head.weight may be missing where it is tied.
  LoadOptions load_options() const;

  LlamaConfig config;
  LlamaModel model = nullptr;
  nn::Linear lm_head = nullptr;
};
EBB_MODULE(LlamaForCausalLM);

}  // namespace ebb::models
