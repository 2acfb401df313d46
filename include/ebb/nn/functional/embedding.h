// embedding, embedding_bag and one_hot with options (torch::nn::functional).
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/core/arg.h>
#include <ebb/nn/enums.h>

namespace ebb::nn {

/// Options of Embedding.
class EBB_API EmbeddingOptions {
 public:
  EmbeddingOptions(std::int64_t num_embeddings, std::int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}

  EBB_ARG(std::int64_t, num_embeddings);         ///< rows
  EBB_ARG(std::int64_t, embedding_dim);          ///< columns
  EBB_ARG(optional<std::int64_t>, padding_idx);  ///< index of a row without gradient
  EBB_ARG(optional<double>, max_norm);           ///< rows with a larger norm are scaled down to it
  EBB_ARG(double, norm_type) = 2.0;              ///< order of the norm
  EBB_ARG(bool, scale_grad_by_freq) = false;     ///< divides gradients by the frequency of the index
  EBB_ARG(bool, sparse) = false;                 ///< must be false: gradients are dense
  EBB_ARG(Variable, _weight);                    ///< the table; random if undefined
};

/// Options of Embedding::from_pretrained.
class EBB_API EmbeddingFromPretrainedOptions {
  EBB_ARG(bool, freeze) = true;                  ///< the table has no gradient
  EBB_ARG(optional<std::int64_t>, padding_idx);  ///< index of a row without gradient
  EBB_ARG(optional<double>, max_norm);           ///< rows with a larger norm are scaled down to it
  EBB_ARG(double, norm_type) = 2.0;              ///< order of the norm
  EBB_ARG(bool, scale_grad_by_freq) = false;     ///< divides gradients by the frequency of the index
  EBB_ARG(bool, sparse) = false;                 ///< must be false: gradients are dense
};

using EmbeddingBagMode = OneOf<enumtype::kMean, enumtype::kSum, enumtype::kMax>;

/// Options of EmbeddingBag.
class EBB_API EmbeddingBagOptions {
 public:
  EmbeddingBagOptions(std::int64_t num_embeddings, std::int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}

  EBB_ARG(std::int64_t, num_embeddings);      ///< rows
  EBB_ARG(std::int64_t, embedding_dim);       ///< columns
  EBB_ARG(optional<double>, max_norm);        ///< rows with a larger norm are scaled down to it
  EBB_ARG(double, norm_type) = 2.0;           ///< order of the norm
  EBB_ARG(bool, scale_grad_by_freq) = false;  ///< divides gradients by the frequency of the index
  EBB_ARG(bool, sparse) = false;              ///< must be false: gradients are dense
  EBB_ARG(EmbeddingBagMode, mode);
  EBB_ARG(bool, include_last_offset) = false;    ///< the last offset is the size of the input
  EBB_ARG(optional<std::int64_t>, padding_idx);  ///< index of a row without gradient
  EBB_ARG(Variable, _weight);                    ///< the table; random if undefined
};

/// Options of EmbeddingBag::from_pretrained.
class EBB_API EmbeddingBagFromPretrainedOptions {
  EBB_ARG(bool, freeze) = true;               ///< no gradient for the table
  EBB_ARG(optional<double>, max_norm);        ///< rows with a larger norm are scaled down to it
  EBB_ARG(double, norm_type) = 2.0;           ///< order of the norm
  EBB_ARG(bool, scale_grad_by_freq) = false;  ///< divides gradients by the frequency of the index
  EBB_ARG(bool, sparse) = false;              ///< must be false: gradients are dense
  EBB_ARG(EmbeddingBagMode, mode);
  EBB_ARG(bool, include_last_offset) = false;    ///< the last offset is the size of the input
  EBB_ARG(optional<std::int64_t>, padding_idx);  ///< index of a row without gradient
};

namespace functional {

/// Options of embedding.
class EBB_API EmbeddingFuncOptions {
  EBB_ARG(optional<std::int64_t>, padding_idx);  ///< index of a row without gradient
  EBB_ARG(optional<double>, max_norm);           ///< rows with a larger norm are scaled down to it
  EBB_ARG(double, norm_type) = 2.0;              ///< order of the norm
  EBB_ARG(bool, scale_grad_by_freq) = false;     ///< divides gradients by the frequency of the index
  EBB_ARG(bool, sparse) = false;                 ///< must be false: gradients are dense
};

/// Options of embedding_bag.
class EBB_API EmbeddingBagFuncOptions {
  EBB_ARG(Variable, offsets);                 ///< start offsets of bags in a 1-D input
  EBB_ARG(optional<double>, max_norm);        ///< rows with a larger norm are scaled down to it
  EBB_ARG(double, norm_type) = 2.0;           ///< order of the norm
  EBB_ARG(bool, scale_grad_by_freq) = false;  ///< divides gradients by the frequency of the index
  EBB_ARG(bool, sparse) = false;              ///< must be false: gradients are dense
  EBB_ARG(EmbeddingBagMode, mode);
  EBB_ARG(bool, include_last_offset) = false;    ///< the last offset is the size of the input
  EBB_ARG(optional<std::int64_t>, padding_idx);  ///< index of a row without gradient
  EBB_ARG(Variable, per_sample_weights);         ///< factors of the rows; for kSum only
};

/// Returns one-hot vectors of integers in [0, num_classes), with a new last dimension. -1 means the largest
/// value plus one.
EBB_API Variable one_hot(const Variable& tensor, std::int64_t num_classes = -1);
/// Looks up rows of `weight`. With max_norm, first scales down rows with a larger norm, in place. Gradients
/// are dense.
EBB_API Variable embedding(const Variable& input, const Variable& weight,
                           const EmbeddingFuncOptions& options = {});
/// Returns the sums, means or maxima of bags of rows. A bag is a row of a 2-D input, or a part of a 1-D input
/// between `offsets`.
EBB_API Variable embedding_bag(const Variable& input, const Variable& weight,
                               const EmbeddingBagFuncOptions& options = {});

}  // namespace functional

}  // namespace ebb::nn
