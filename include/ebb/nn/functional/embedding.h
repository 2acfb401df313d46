// Embeddings with options (torch::nn::functional).
#pragma once

#include <ebb/nn/options/embedding.h>

namespace ebb::nn::functional {

/// One column an integer in [0, num_classes), 1 where it equals the column; -1 takes the largest value plus
/// one.
EBB_API Variable one_hot(const Variable& tensor, std::int64_t num_classes = -1);
/// Rows of `weight`. With max_norm, rows looked up are first scaled down to it, in place. Gradients are
/// dense.
EBB_API Variable embedding(const Variable& input, const Variable& weight,
                           const EmbeddingFuncOptions& options = {});
/// Sums, means or maxima of bags of rows: of each row of a 2-D input, or of a 1-D input cut at `offsets`.
EBB_API Variable embedding_bag(const Variable& input, const Variable& weight,
                               const EmbeddingBagFuncOptions& options = {});

}  // namespace ebb::nn::functional
