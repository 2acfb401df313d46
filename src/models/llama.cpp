// LLaMA: a decoder-only transformer with RMSNorm, SwiGLU and rotary positions.
#include <ebb/models/llama.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/shape.h>

#include "models/language_model.h"

namespace ebb::models {

namespace {

constexpr const char* kName = "Llama";

std::int64_t head_size(const LlamaConfig& config) {
  return config.hidden_size() / config.num_attention_heads();
}

std::int64_t key_value_heads(const LlamaConfig& config) {
  return config.num_key_value_heads() ? config.num_key_value_heads() : config.num_attention_heads();
}

nn::RMSNorm norm_of(const LlamaConfig& config) {
  return nn::RMSNorm(nn::RMSNormOptions({config.hidden_size()}).eps(config.rms_norm_eps()));
}

// Computes the tables of rotary embeddings in float for every dtype of the model, as Hugging Face does. The
// angles of large positions need the precision.
RotaryTables rotary_tables(const LlamaConfig& config, std::int64_t start, std::int64_t end, Device device) {
  const std::int64_t size = head_size(config);
  const TensorOptions options = TensorOptions(kFloat).device(device);
  const Variable exponents = arange(0, size, 2, options) / static_cast<double>(size);
  const Variable frequencies = 1 / pow(config.rope_theta(), exponents);
  const Variable angles = arange(start, end, options).unsqueeze(-1) * frequencies;
  return {angles.cos(), angles.sin()};
}

Variable rotated(const Variable& x, const RotaryTables& positions) {
  const Variable cos = positions.cos.to(x.dtype()), sin = positions.sin.to(x.dtype());
  const variable_list halves = x.chunk(2, -1);
  return cat({halves[0] * cos - halves[1] * sin, halves[1] * cos + halves[0] * sin}, -1);
}

}  // namespace

LlamaAttentionImpl::LlamaAttentionImpl(const LlamaConfig& config_, std::int64_t layer_idx_)
    : config(config_), layer_idx(layer_idx_) {
  LlamaAttentionImpl::reset();
}

void LlamaAttentionImpl::reset() {
  const std::int64_t width = config.hidden_size(), heads = config.num_attention_heads();
  EBB_CHECK(width > 0 && heads > 0 && width % heads == 0 && width / heads % 2 == 0, kName,
            ": hidden_size must be num_attention_heads times an even number, got ", width, " and ", heads,
            ".");
  const std::int64_t groups = key_value_heads(config);
  EBB_CHECK(groups > 0 && heads % groups == 0, kName,
            ": num_attention_heads must be divisible by num_key_value_heads, got ", heads, " and ", groups,
            ".");
  const std::int64_t narrow = groups * head_size(config);
  const double std = config.initializer_range();
  q_proj = register_module("q_proj", normal_linear(width, width, std));
  k_proj = register_module("k_proj", normal_linear(width, narrow, std));
  v_proj = register_module("v_proj", normal_linear(width, narrow, std));
  o_proj = register_module("o_proj", normal_linear(width, width, std));
}

Variable LlamaAttentionImpl::forward(const Variable& x, const RotaryTables& positions, KeyValueCache* cache) {
  const std::int64_t groups = key_value_heads(config);
  const Variable query = rotated(split_heads(q_proj(x), config.num_attention_heads()), positions);
  Variable key = rotated(split_heads(k_proj(x), groups), positions), value = split_heads(v_proj(x), groups);
  if (cache) std::tie(key, value) = cache->update(layer_idx, key, value);
  const double dropout = is_training() ? config.attention_dropout() : 0;
  return o_proj(join_heads(causal_attention(query, key, value, dropout)));
}

LlamaMLPImpl::LlamaMLPImpl(const LlamaConfig& config_) : config(config_) { LlamaMLPImpl::reset(); }

void LlamaMLPImpl::reset() {
  const std::int64_t width = config.hidden_size(), inner = config.intermediate_size();
  const double std = config.initializer_range();
  gate_proj = register_module("gate_proj", normal_linear(width, inner, std));
  up_proj = register_module("up_proj", normal_linear(width, inner, std));
  down_proj = register_module("down_proj", normal_linear(inner, width, std));
}

Variable LlamaMLPImpl::forward(const Variable& x) { return down_proj(silu(gate_proj(x)) * up_proj(x)); }

LlamaDecoderLayerImpl::LlamaDecoderLayerImpl(const LlamaConfig& config_, std::int64_t layer_idx_)
    : config(config_), layer_idx(layer_idx_) {
  LlamaDecoderLayerImpl::reset();
}

void LlamaDecoderLayerImpl::reset() {
  self_attn = register_module("self_attn", LlamaAttention(config, layer_idx));
  mlp = register_module("mlp", LlamaMLP(config));
  input_layernorm = register_module("input_layernorm", norm_of(config));
  post_attention_layernorm = register_module("post_attention_layernorm", norm_of(config));
}

Variable LlamaDecoderLayerImpl::forward(const Variable& x, const RotaryTables& positions,
                                        KeyValueCache* cache) {
  const auto [normed, sum] =
      post_attention_layernorm->forward_sum(self_attn(input_layernorm(x), positions, cache), x);
  return sum + mlp(normed);
}

LlamaModelImpl::LlamaModelImpl(const LlamaConfig& config_) : config(config_) { LlamaModelImpl::reset(); }

void LlamaModelImpl::reset() {
  embed_tokens = register_module("embed_tokens", normal_embedding(config.vocab_size(), config.hidden_size(),
                                                                  config.initializer_range()));
  layers = register_module("layers", nn::ModuleList());
  for (std::int64_t i = 0; i < config.num_hidden_layers(); ++i)
    layers->push_back(LlamaDecoderLayer(config, i));
  norm = register_module("norm", norm_of(config));
}

Variable LlamaModelImpl::forward(const Variable& ids) { return run(ids, nullptr); }

Variable LlamaModelImpl::forward_with_cache(const Variable& ids, KeyValueCache& cache) {
  return run(ids, &cache);
}

Variable LlamaModelImpl::run(const Variable& ids, KeyValueCache* cache) {
  check_ids(kName, ids);
  const std::int64_t start = cache ? cache->length() : 0, end = start + ids.size(1);
  check_length(kName, end, config.max_position_embeddings(), "max_position_embeddings");
  const RotaryTables positions = rotary_tables(config, start, end, ids.device());
  Variable x = embed_tokens(ids);
  for (std::size_t i = 0; i < layers->size(); ++i)
    x = LlamaDecoderLayer(layers->ptr<LlamaDecoderLayerImpl>(i))(x, positions, cache);
  return norm(x);
}

LlamaForCausalLMImpl::LlamaForCausalLMImpl(const LlamaConfig& config_) : config(config_) {
  LlamaForCausalLMImpl::reset();
}

void LlamaForCausalLMImpl::reset() {
  model = register_module("model", LlamaModel(config));
  lm_head =
      register_module("lm_head", language_head(config.hidden_size(), config.vocab_size(),
                                               config.tie_word_embeddings(), config.initializer_range()));
  tie_weights();
}

void LlamaForCausalLMImpl::tie_weights() {
  if (config.tie_word_embeddings())
    lm_head->weight = lm_head->replace_parameter("weight", model->embed_tokens->weight);
}

Variable LlamaForCausalLMImpl::forward(const Variable& ids) { return lm_head(model(ids)); }

Variable LlamaForCausalLMImpl::forward_with_cache(const Variable& ids, KeyValueCache& cache) {
  return lm_head(model->forward_with_cache(ids, cache));
}

Variable LlamaForCausalLMImpl::generate(const Variable& ids, std::int64_t max_new_tokens,
                                        const GenerateOptions& options) {
  check_ids(kName, ids);
  check_length(kName, ids.size(1) + max_new_tokens, config.max_position_embeddings(),
               "max_position_embeddings");
  KeyValueCache cache(config.num_hidden_layers());
  return extended(kName, ids, max_new_tokens, options, [&](const Variable& tokens) {
    const Variable hidden = options.use_cache() ? model->forward_with_cache(tokens, cache) : model(tokens);
    return lm_head(hidden.select(1, -1));
  });
}

LoadOptions LlamaForCausalLMImpl::load_options() const {
  LoadOptions options;
  for (std::int64_t i = 0; i < config.num_hidden_layers(); ++i)
    options.ignore().push_back("model.layers." + std::to_string(i) + ".self_attn.rotary_emb.inv_freq");
  return options;
}

}  // namespace ebb::models
