// GPT-2: a decoder-only transformer, with Hugging Face's parameter names.
#pragma once

#include <ebb/models/generate.h>
#include <ebb/nn.h>
#include <ebb/serialize.h>

namespace ebb::models {

/// Options of GPT-2. The defaults are those of the smallest published model, with 124 million parameters
/// (Hugging Face's GPT2Config).
class EBB_API GPT2Config {
 public:
  GPT2Config(std::int64_t vocab_size = 50257) : vocab_size_(vocab_size) {}

  EBB_ARG(std::int64_t, vocab_size);           ///< number of tokens
  EBB_ARG(std::int64_t, n_positions) = 1024;   ///< longest sequence
  EBB_ARG(std::int64_t, n_embd) = 768;         ///< model width
  EBB_ARG(std::int64_t, n_layer) = 12;         ///< number of blocks
  EBB_ARG(std::int64_t, n_head) = 12;          ///< number of heads per block; divides n_embd
  EBB_ARG(std::int64_t, n_inner) = 0;          ///< hidden width of the MLPs; 0 means 4 n_embd
  EBB_ARG(double, resid_pdrop) = 0.1;          ///< dropout before each residual addition
  EBB_ARG(double, embd_pdrop) = 0.1;           ///< dropout of the embeddings
  EBB_ARG(double, attn_pdrop) = 0.1;           ///< dropout of the attention weights
  EBB_ARG(double, layer_norm_epsilon) = 1e-5;  ///< eps of the layer norms
  EBB_ARG(double, initializer_range) = 0.02;   ///< standard deviation of initial weights
  EBB_ARG(bool, tie_word_embeddings) = true;   ///< lm_head.weight is transformer.wte.weight
};

/// Computes x W + b with a weight of shape [in_features, out_features], as in GPT-2's files (Hugging Face's
/// Conv1D).
struct EBB_API Conv1DImpl : nn::Cloneable<Conv1DImpl> {
  Conv1DImpl(std::int64_t in_features, std::int64_t out_features, double std = 0.02);
  void reset() override;
  void pretty_print(std::ostream& stream) const override;
  /// Maps [..., in_features] to [..., out_features].
  Variable forward(const Variable& input);

  std::int64_t in_features, out_features;
  double std;       // standard deviation of the initial weight
  Variable weight;  // [in_features, out_features]
  Variable bias;    // [out_features]
};
EBB_MODULE(Conv1D);

/// Causal multi-head self-attention: [B, T, n_embd] -> [B, T, n_embd].
struct EBB_API GPT2AttentionImpl : nn::Cloneable<GPT2AttentionImpl> {
  GPT2AttentionImpl(const GPT2Config& config, std::int64_t layer_idx);
  void reset() override;
  /// With a cache, x contains only the tokens that follow the tokens in the cache.
  Variable forward(const Variable& x, KeyValueCache* cache = nullptr);

  GPT2Config config;
  std::int64_t layer_idx;
  Conv1D c_attn = nullptr, c_proj = nullptr;
  nn::Dropout attn_dropout = nullptr, resid_dropout = nullptr;
};
EBB_MODULE(GPT2Attention);

/// Computes gelu(x W_fc + b_fc) W_proj + b_proj, with the tanh form of gelu.
struct EBB_API GPT2MLPImpl : nn::Cloneable<GPT2MLPImpl> {
  explicit GPT2MLPImpl(const GPT2Config& config);
  void reset() override;
  Variable forward(const Variable& x);

  GPT2Config config;
  Conv1D c_fc = nullptr, c_proj = nullptr;
  nn::Dropout dropout = nullptr;
};
EBB_MODULE(GPT2MLP);

/// Computes y = x + attn(ln_1(x)) and returns y + mlp(ln_2(y)).
struct EBB_API GPT2BlockImpl : nn::Cloneable<GPT2BlockImpl> {
  GPT2BlockImpl(const GPT2Config& config, std::int64_t layer_idx);
  void reset() override;
  Variable forward(const Variable& x, KeyValueCache* cache = nullptr);

  GPT2Config config;
  std::int64_t layer_idx;
  nn::LayerNorm ln_1 = nullptr, ln_2 = nullptr;
  GPT2Attention attn = nullptr;
  GPT2MLP mlp = nullptr;
};
EBB_MODULE(GPT2Block);

/// The embeddings, the blocks and the final normalization: ids [B, T] -> [B, T, n_embd].
struct EBB_API GPT2ModelImpl : nn::Cloneable<GPT2ModelImpl> {
  explicit GPT2ModelImpl(const GPT2Config& config);
  void reset() override;
  Variable forward(const Variable& ids);
  /// `ids` are the tokens that follow the tokens in the cache. Appends their keys and values to the cache.
  Variable forward_with_cache(const Variable& ids, KeyValueCache& cache);

  GPT2Config config;
  nn::Embedding wte = nullptr, wpe = nullptr;  // embeddings of tokens and of positions
  nn::Dropout drop = nullptr;
  nn::ModuleList h = nullptr;  // GPT2Block modules
  nn::LayerNorm ln_f = nullptr;

 private:
  Variable run(const Variable& ids, KeyValueCache* cache);
};
EBB_MODULE(GPT2Model);

/// The language model GPT-2 (Radford et al. 2019). Weights have the names and layout of Hugging Face's
/// GPT2LMHeadModel: transformer.wte.weight, transformer.h.0.attn.c_attn.weight, ..., lm_head.weight. Initial
/// weights are N(0, initializer_range^2). The weights of c_proj are then divided by sqrt(2 n_layer). Initial
/// biases are 0.
///
///     GPT2LMHeadModel net = nn::utils::skip_init<GPT2LMHeadModel>(GPT2Config());
///     load(net, "gpt2/model.safetensors", net->load_options());
///     net->eval();
///     Tensor text = net->generate(ids, 50, GenerateOptions().temperature(0.8).top_k(40));
///
/// Throws for an invalid number of positions or an invalid width, for ids that are not Long [B, T], and for T
/// > n_positions.
struct EBB_API GPT2LMHeadModelImpl : nn::Cloneable<GPT2LMHeadModelImpl> {
  explicit GPT2LMHeadModelImpl(const GPT2Config& config = {});
  void reset() override;
  void tie_weights() override;
  /// Returns logits [B, T, vocab_size] of the next token at each position, for ids [B, T].
  Variable forward(const Variable& ids);
  /// Returns the logits for `ids`, which follow the tokens in the cache. Appends their keys and values to the
  /// cache.
  Variable forward_with_cache(const Variable& ids, KeyValueCache& cache);
  /// Appends max_new_tokens generated tokens to ids [B, T] and returns [B, T + max_new_tokens]. Records no
  /// graph. Dropout follows the module's mode: call eval() first. Throws if the result is longer than
  /// n_positions.
  Variable generate(const Variable& ids, std::int64_t max_new_tokens, const GenerateOptions& options = {});
  /// Returns options with which load() reads published files. They ignore the masks attn.bias and
  /// attn.masked_bias of older files, and accept names with or without "transformer.". lm_head.weight may be
  /// missing in the file if it is tied to the embedding.
  LoadOptions load_options() const;

  GPT2Config config;
  GPT2Model transformer = nullptr;
  nn::Linear lm_head = nullptr;
};
EBB_MODULE(GPT2LMHeadModel);

}  // namespace ebb::models
