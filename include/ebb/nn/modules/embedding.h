// Embeddings as modules.
#pragma once

#include <ebb/nn/cloneable.h>
#include <ebb/nn/functional/embedding.h>

namespace ebb::nn {

/// Rows of a learnt table: integers (*) to (*, embedding_dim). The table starts from N(0, 1); the row
/// padding_idx starts from 0 and gets no gradient.
class EBB_API EmbeddingImpl : public Cloneable<EmbeddingImpl> {
 public:
  EmbeddingImpl(std::int64_t num_embeddings, std::int64_t embedding_dim)
      : EmbeddingImpl(EmbeddingOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingImpl(EmbeddingOptions options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input);

  EmbeddingOptions options;
  Variable weight;
};

extern template class Cloneable<EmbeddingImpl>;

/// Handle of EmbeddingImpl.
class Embedding : public ModuleHolder<EmbeddingImpl> {
 public:
  using ModuleHolder<EmbeddingImpl>::ModuleHolder;
  /// A table given as a (num_embeddings, embedding_dim) tensor; frozen unless options say otherwise.
  EBB_API static Embedding from_pretrained(const Variable& embeddings,
                                           const EmbeddingFromPretrainedOptions& options = {});
};

/// Sums, means or maxima of bags of rows of a learnt table.
class EBB_API EmbeddingBagImpl : public Cloneable<EmbeddingBagImpl> {
 public:
  EmbeddingBagImpl(std::int64_t num_embeddings, std::int64_t embedding_dim)
      : EmbeddingBagImpl(EmbeddingBagOptions(num_embeddings, embedding_dim)) {}
  explicit EmbeddingBagImpl(EmbeddingBagOptions options_);
  void reset() override;
  void reset_parameters();
  void pretty_print(std::ostream& stream) const override;
  Variable forward(const Variable& input, const Variable& offsets = {},
                   const Variable& per_sample_weights = {});

  EmbeddingBagOptions options;
  Variable weight;
};

extern template class Cloneable<EmbeddingBagImpl>;

/// Handle of EmbeddingBagImpl.
class EmbeddingBag : public ModuleHolder<EmbeddingBagImpl> {
 public:
  using ModuleHolder<EmbeddingBagImpl>::ModuleHolder;
  EBB_API static EmbeddingBag from_pretrained(const Variable& embeddings,
                                              const EmbeddingBagFromPretrainedOptions& options = {});
};

}  // namespace ebb::nn
