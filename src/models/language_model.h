// What the language models share: checks of ids, attention to what came before, and generating.
#pragma once

#include <ebb/models/generate.h>
#include <ebb/nn/modules/embedding.h>
#include <ebb/nn/modules/linear.h>

#include <functional>

namespace ebb::models {

/// Throws unless ids are Long [B, T].
void check_ids(const char* model, const Variable& ids);
/// Throws where a sequence is longer than `option` allows.
void check_length(const char* model, std::int64_t length, std::int64_t limit, const char* option);

/// Reads tokens [B, T]; gives the logits [B, V] of what follows the last.
using NextLogits = std::function<Variable(const Variable& tokens)>;
/// ids and up to max_new_tokens further ones. With use_cache `next` gets each token once, else all again.
Variable extended(const char* model, const Variable& ids, std::int64_t max_new_tokens,
                  const GenerateOptions& options, const NextLogits& next);

/// [B, T, H * E] to [B, H, T, E].
Variable split_heads(const Variable& x, std::int64_t heads);
/// [B, H, T, E] to [B, T, H * E].
Variable join_heads(const Variable& x);
/// Attention of the last tokens (query [B, H, T, E]) to themselves and all before (key, value [B, H, S, E],
/// S >= T, or a divisor of H heads).
Variable causal_attention(const Variable& query, const Variable& key, const Variable& value,
                          double dropout_p);

/// Layers whose weights start from N(0, std^2), without biases.
nn::Linear normal_linear(std::int64_t in_features, std::int64_t out_features, double std);
/// The layer that gives logits; one that is to be tied to the embedding has no weights yet.
nn::Linear language_head(std::int64_t width, std::int64_t vocab_size, bool tied, double std);
nn::Embedding normal_embedding(std::int64_t num_embeddings, std::int64_t embedding_dim, double std);

}  // namespace ebb::models
