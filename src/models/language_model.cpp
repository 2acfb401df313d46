// Common parts of language models.
#include "models/language_model.h"

#include <ebb/nn/init.h>
#include <ebb/nn/skip_init.h>
#include <ebb/ops/attention.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/shape.h>

namespace ebb::models {

Variable split_heads(const Variable& x, std::int64_t heads) {
  return x.unflatten(-1, {heads, x.size(-1) / heads}).transpose(1, 2);
}

Variable join_heads(const Variable& x) { return x.transpose(1, 2).flatten(2); }

Variable causal_attention(const Variable& query, const Variable& key, const Variable& value,
                          double dropout_p) {
  const std::int64_t unread = query.size(-2), all = key.size(-2);
  // is_causal aligns the first query with the first key, which is only correct if all tokens are new. A
  // single new token attends to all keys, and needs no mask.
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

}  // namespace ebb::models
