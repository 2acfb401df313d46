// GPT-2: a decoder-only transformer with learned positions.
#include <ebb/models/gpt2.h>
#include <ebb/nn/init.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/linalg/products.h>
#include <ebb/ops/shape.h>

#include "models/language_model.h"

#include <cmath>
#include <ostream>

namespace ebb::models {

namespace {

constexpr const char* kName = "GPT2";

nn::LayerNorm norm_of(const GPT2Config& config) {
  return nn::LayerNorm(nn::LayerNormOptions({config.n_embd()}).eps(config.layer_norm_epsilon()));
}

// Returns the initial standard deviation of layers that add to the residual stream. It decreases with the
// number of layers, so that the variance of the stream does not grow with that number.
double residual_std(const GPT2Config& config) {
  return config.initializer_range() / std::sqrt(2.0 * static_cast<double>(config.n_layer()));
}

}  // namespace

Conv1DImpl::Conv1DImpl(std::int64_t in_features_, std::int64_t out_features_, double std_)
    : in_features(in_features_), out_features(out_features_), std(std_) {
  Conv1DImpl::reset();
}

void Conv1DImpl::reset() {
  weight = register_parameter("weight", empty({in_features, out_features}));
  bias = register_parameter("bias", empty({out_features}));
  nn::init::normal_(weight, 0, std);
  nn::init::zeros_(bias);
}

void Conv1DImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::models::Conv1D(in_features=" << in_features << ", out_features=" << out_features << ")";
}

Variable Conv1DImpl::forward(const Variable& input) { return linear(input, weight.t(), bias); }

GPT2AttentionImpl::GPT2AttentionImpl(const GPT2Config& config_, std::int64_t layer_idx_)
    : config(config_), layer_idx(layer_idx_) {
  GPT2AttentionImpl::reset();
}

void GPT2AttentionImpl::reset() {
  const std::int64_t width = config.n_embd();
  EBB_CHECK(width > 0 && config.n_head() > 0 && width % config.n_head() == 0, kName,
            ": n_embd must be divisible by n_head, both above 0, got ", width, " and ", config.n_head(), ".");
  c_attn = register_module("c_attn", Conv1D(width, 3 * width, config.initializer_range()));
  c_proj = register_module("c_proj", Conv1D(width, width, residual_std(config)));
  attn_dropout = register_module("attn_dropout", nn::Dropout(config.attn_pdrop()));
  resid_dropout = register_module("resid_dropout", nn::Dropout(config.resid_pdrop()));
}

Variable GPT2AttentionImpl::forward(const Variable& x, KeyValueCache* cache) {
  const variable_list parts = c_attn(x).chunk(3, -1);
  const Variable query = split_heads(parts[0], config.n_head());
  Variable key = split_heads(parts[1], config.n_head()), value = split_heads(parts[2], config.n_head());
  if (cache) std::tie(key, value) = cache->update(layer_idx, key, value);
  const double dropout = attn_dropout->is_training() ? config.attn_pdrop() : 0;
  return resid_dropout(c_proj(join_heads(causal_attention(query, key, value, dropout))));
}

GPT2MLPImpl::GPT2MLPImpl(const GPT2Config& config_) : config(config_) { GPT2MLPImpl::reset(); }

void GPT2MLPImpl::reset() {
  const std::int64_t width = config.n_embd(), inner = config.n_inner() ? config.n_inner() : 4 * width;
  c_fc = register_module("c_fc", Conv1D(width, inner, config.initializer_range()));
  c_proj = register_module("c_proj", Conv1D(inner, width, residual_std(config)));
  dropout = register_module("dropout", nn::Dropout(config.resid_pdrop()));
}

Variable GPT2MLPImpl::forward(const Variable& x) { return dropout(c_proj(gelu(c_fc(x), "tanh"))); }

GPT2BlockImpl::GPT2BlockImpl(const GPT2Config& config_, std::int64_t layer_idx_)
    : config(config_), layer_idx(layer_idx_) {
  GPT2BlockImpl::reset();
}

void GPT2BlockImpl::reset() {
  ln_1 = register_module("ln_1", norm_of(config));
  attn = register_module("attn", GPT2Attention(config, layer_idx));
  ln_2 = register_module("ln_2", norm_of(config));
  mlp = register_module("mlp", GPT2MLP(config));
}

Variable GPT2BlockImpl::forward(const Variable& x, KeyValueCache* cache) {
  const auto [normed, sum] = ln_2->forward_sum(attn(ln_1(x), cache), x);
  return sum + mlp(normed);
}

GPT2ModelImpl::GPT2ModelImpl(const GPT2Config& config_) : config(config_) { GPT2ModelImpl::reset(); }

void GPT2ModelImpl::reset() {
  const double std = config.initializer_range();
  wte = register_module("wte", normal_embedding(config.vocab_size(), config.n_embd(), std));
  wpe = register_module("wpe", normal_embedding(config.n_positions(), config.n_embd(), std));
  drop = register_module("drop", nn::Dropout(config.embd_pdrop()));
  h = register_module("h", nn::ModuleList());
  for (std::int64_t i = 0; i < config.n_layer(); ++i) h->push_back(GPT2Block(config, i));
  ln_f = register_module("ln_f", norm_of(config));
}

Variable GPT2ModelImpl::forward(const Variable& ids) { return run(ids, nullptr); }

Variable GPT2ModelImpl::forward_with_cache(const Variable& ids, KeyValueCache& cache) {
  return run(ids, &cache);
}

Variable GPT2ModelImpl::run(const Variable& ids, KeyValueCache* cache) {
  check_ids(kName, ids);
  const std::int64_t start = cache ? cache->length() : 0, end = start + ids.size(1);
  check_length(kName, end, config.n_positions(), "n_positions");
  Variable x = drop(wte(ids) + wpe(arange(start, end, ids.options())));
  for (std::size_t i = 0; i < h->size(); ++i) x = GPT2Block(h->ptr<GPT2BlockImpl>(i))(x, cache);
  return ln_f(x);
}

GPT2LMHeadModelImpl::GPT2LMHeadModelImpl(const GPT2Config& config_) : config(config_) {
  GPT2LMHeadModelImpl::reset();
}

void GPT2LMHeadModelImpl::reset() {
  transformer = register_module("transformer", GPT2Model(config));
  lm_head =
      register_module("lm_head", language_head(config.n_embd(), config.vocab_size(),
                                               config.tie_word_embeddings(), config.initializer_range()));
  tie_weights();
}

void GPT2LMHeadModelImpl::tie_weights() {
  if (config.tie_word_embeddings())
    lm_head->weight = lm_head->replace_parameter("weight", transformer->wte->weight);
}

Variable GPT2LMHeadModelImpl::forward(const Variable& ids) { return lm_head(transformer(ids)); }

Variable GPT2LMHeadModelImpl::forward_with_cache(const Variable& ids, KeyValueCache& cache) {
  return lm_head(transformer->forward_with_cache(ids, cache));
}

Variable GPT2LMHeadModelImpl::generate(const Variable& ids, std::int64_t max_new_tokens,
                                       const GenerateOptions& options) {
  check_ids(kName, ids);
  check_length(kName, ids.size(1) + max_new_tokens, config.n_positions(), "n_positions");
  KeyValueCache cache(config.n_layer());
  return extended(kName, ids, max_new_tokens, options, [&](const Variable& tokens) {
    const Variable hidden =
        options.use_cache() ? transformer->forward_with_cache(tokens, cache) : transformer(tokens);
    return lm_head(hidden.select(1, -1));
  });
}

LoadOptions GPT2LMHeadModelImpl::load_options() const {
  LoadOptions options;
  for (std::int64_t i = 0; i < config.n_layer(); ++i)
    for (const char* outer : {"", "transformer."})
      for (const char* mask : {".attn.bias", ".attn.masked_bias"})
        options.ignore().push_back(outer + ("h." + std::to_string(i)) + mask);
  for (const char* part : {"wte.", "wpe.", "h.", "ln_f."})
    options.prefixes().emplace_back(part, std::string("transformer.") + part);
  return options;
}

}  // namespace ebb::models
