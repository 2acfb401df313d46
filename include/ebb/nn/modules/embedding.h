// Embedding and EmbeddingBag as modules.
#pragma once

#include <ebb/nn/cloneable.h>
#include <ebb/nn/functional/embedding.h>

namespace ebb::nn {

/// Looks up rows of a learned table: integers (*) to (*, embedding_dim). The initial table is N(0, 1). Row
/// padding_idx is initially 0 and gets no gradient.
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
  /// Uses a given table (num_embeddings, embedding_dim). The table gets no gradient unless freeze(false) is
  /// set in the options.
  EBB_API static Embedding from_pretrained(const Variable& embeddings,
                                           const EmbeddingFromPretrainedOptions& options = {});
};

/// Returns the sums, means or maxima of bags of rows of a learned table.
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
