// Common parts of language models: attention, layers, KeyValueCache, sampling of tokens, and text generation.
#include "models/language_model.h"

#include <ebb/autograd/grad_mode.h>
#include <ebb/models/generate.h>
#include <ebb/nn/init.h>
#include <ebb/nn/skip_init.h>
#include <ebb/ops/attention.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/random.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include <limits>

namespace ebb::models {

Variable split_heads(const Variable& x, std::int64_t heads) {
  return x.unflatten(-1, {heads, x.size(-1) / heads}).transpose(1, 2);
}

Variable join_heads(const Variable& x) { return x.transpose(1, 2).flatten(2); }

Variable causal_attention(const Variable& query, const Variable& key, const Variable& value,
                          double dropout_p) {
  const std::int64_t unread = query.size(-2), all = key.size(-2);
  // is_causal aligns the first query with the first key. This is correct only if all tokens are new. A single
  // new token attends to all keys and needs no mask.
  optional<Variable> mask;
  if (unread > 1 && unread < all)
    mask = ones({unread, all}, query.options().dtype(kBool).requires_grad(false)).tril(all - unread);
  return scaled_dot_product_attention(query, key, value, mask, dropout_p, /*is_causal=*/unread == all,
                                      /*scale=*/nullopt, /*enable_gqa=*/query.size(1) != key.size(1));
}

nn::Linear normal_linear(std::int64_t in_features, std::int64_t out_features, double std) {
  auto layer = nn::utils::skip_init<nn::Linear>(nn::LinearOptions(in_features, out_features).bias(false));
  nn::init::normal_(layer->weight, 0, std);
  return layer;
}

nn::Linear language_head(std::int64_t width, std::int64_t vocab_size, bool tied, double std) {
  if (tied) return nn::utils::skip_init<nn::Linear>(nn::LinearOptions(width, vocab_size).bias(false));
  return normal_linear(width, vocab_size, std);
}

nn::Embedding normal_embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, double std) {
  auto layer = nn::utils::skip_init<nn::Embedding>(num_embeddings, embedding_dim);
  nn::init::normal_(layer->weight, 0, std);
  return layer;
}

KeyValueCache::KeyValueCache(std::int64_t num_layers) {
  EBB_CHECK(num_layers > 0, "KeyValueCache: num_layers must be above 0, got ", num_layers, ".");
  layers_.resize(static_cast<std::size_t>(num_layers));
}

std::int64_t KeyValueCache::length() const {
  const Variable& keys = layers_.front().keys;
  return keys.defined() ? keys.size(2) : 0;
}

std::tuple<Variable, Variable> KeyValueCache::update(std::int64_t layer, const Variable& keys,
                                                     const Variable& values) {
  EBB_CHECK(layer >= 0 && layer < static_cast<std::int64_t>(layers_.size()), "KeyValueCache: layer ", layer,
            " is out of range for ", layers_.size(),
            " layers. Construct the cache with the model's number of layers.");
  Layer& known = layers_[static_cast<std::size_t>(layer)];
  if (known.keys.defined()) {
    EBB_CHECK(keys.dim() == 4 && keys.size(0) == known.keys.size(0) && keys.size(1) == known.keys.size(1),
              "KeyValueCache: keys of shape ", keys.sizes(), " cannot be appended to cached keys of shape ",
              known.keys.sizes(), ". Use a new cache for other sequences.");
    known = {cat({known.keys, keys}, 2), cat({known.values, values}, 2)};
  } else {
    known = {keys, values};
  }
  return {known.keys, known.values};
}

namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

void check(const char* model, const GenerateOptions& options) {
  EBB_CHECK(options.temperature() >= 0, model, ": temperature must not be below 0, got ",
            options.temperature(), ".");
  EBB_CHECK(options.top_k() >= 0, model, ": top_k must not be below 0, got ", options.top_k(), ".");
  EBB_CHECK(options.top_p() > 0 && options.top_p() <= 1, model, ": top_p must be above 0 and at most 1, got ",
            options.top_p(), ".");
}

// Chooses the next tokens [B, 1] from logits [B, V].
Variable chosen(Variable logits, const GenerateOptions& options) {
  if (options.temperature() == 0) return logits.argmax(-1, /*keepdim=*/true);
  if (logits.dtype() != kDouble) logits = logits.to(kFloat);
  logits = logits / options.temperature();
  if (const std::int64_t k = options.top_k(); k > 0 && k < logits.size(-1)) {
    const Variable least = std::get<0>(logits.topk(k)).narrow(-1, k - 1, 1);
    logits = logits.masked_fill(logits < least, kNever);
  }
  if (options.top_p() < 1) {
    const auto [sorted, order] = softmax(logits, -1).sort(-1, /*descending=*/true);
    const Variable beyond = sorted.cumsum(-1) - sorted >= options.top_p();
    logits = logits.masked_fill(beyond.gather(-1, argsort(order, /*dim=*/-1, /*descending=*/false)), kNever);
  }
  return softmax(logits, -1).multinomial(1, /*replacement=*/false, options.generator());
}

}  // namespace

void check_ids(const char* model, const Variable& ids) {
  EBB_CHECK(ids.dim() == 2 && ids.dtype() == kLong, model, ": ids must be Long of shape [B, T], got ",
            ids.dtype(), " of shape ", ids.sizes(), ".");
}

void check_length(const char* model, std::int64_t length, std::int64_t limit, const char* option) {
  EBB_CHECK(length <= limit, model, ": ", length, " tokens are more than ", option, ", which is ", limit,
            ". Shorten ids, or construct the model with a larger ", option, ".");
}

Variable extended(const char* model, const Variable& ids, std::int64_t max_new_tokens,
                  const GenerateOptions& options, const NextLogits& next) {
  check_ids(model, ids);
  check(model, options);
  EBB_CHECK(ids.size(1) > 0, model, ": generate needs at least one token to continue, got ids of shape ",
            ids.sizes(), ".");
  EBB_CHECK(max_new_tokens >= 0, model, ": max_new_tokens must not be below 0, got ", max_new_tokens, ".");
  const NoGradGuard no_grad;
  Variable all = ids, unread = ids, ended;
  for (std::int64_t i = 0; i < max_new_tokens; ++i) {
    Variable token = chosen(next(options.use_cache() ? unread : all), options);
    if (options.eos_token()) {
      if (ended.defined()) token = token.masked_fill(ended, *options.eos_token());
      ended = token == *options.eos_token();
    }
    all = cat({all, token}, 1);
    unread = token;
    if (ended.defined() && ended.all().item<bool>()) break;
  }
  return all;
}

}  // namespace ebb::models
