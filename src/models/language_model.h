// Common parts of language models: checks of ids, causal attention, and generation.
#pragma once

#include <ebb/models/generate.h>
#include <ebb/nn/modules/embedding.h>
#include <ebb/nn/modules/linear.h>

#include <functional>

namespace ebb::models {

/// Throws unless ids are Long [B, T].
void check_ids(const char* model, const Variable& ids);
/// Throws if a sequence is longer than `limit`, the value of `option`.
void check_length(const char* model, std::int64_t length, std::int64_t limit, const char* option);

/// Reads tokens [B, T] and returns the logits [B, V] of the next token.
using NextLogits = std::function<Variable(const Variable& tokens)>;
/// Returns `ids`, followed by up to max_new_tokens new tokens. With use_cache, `next` receives each token
/// once. Otherwise it receives all tokens in each call.
Variable extended(const char* model, const Variable& ids, std::int64_t max_new_tokens,
                  const GenerateOptions& options, const NextLogits& next);

/// Splits the heads: [B, T, H * E] to [B, H, T, E].
Variable split_heads(const Variable& x, std::int64_t heads);
/// Joins the heads: [B, H, T, E] to [B, T, H * E].
Variable join_heads(const Variable& x);
/// Causal attention of the last T tokens: query [B, H, T, E], key and value [B, H, S, E] with S >= T. The
/// number of key heads may be a divisor of H.
Variable causal_attention(const Variable& query, const Variable& key, const Variable& value,
                          double dropout_p);

/// Returns a layer without bias whose initial weights are from N(0, std^2).
nn::Linear normal_linear(std::int64_t in_features, std::int64_t out_features, double std);
/// Returns the layer that computes the logits. If it is tied to the embedding, it has no weights yet.
nn::Linear language_head(std::int64_t width, std::int64_t vocab_size, bool tied, double std);
nn::Embedding normal_embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, double std);

}  // namespace ebb::models
