// Options of the embeddings.
#pragma once

#include <ebb/autograd/variable.h>
#include <ebb/nn/enums.h>

namespace ebb::nn {

/// Options of Embedding.
class EmbeddingOptions {
 public:
  EmbeddingOptions(std::int64_t num_embeddings, std::int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  EmbeddingOptions& num_embeddings(std::int64_t value) { return num_embeddings_ = value, *this; }
  std::int64_t num_embeddings() const { return num_embeddings_; }
  EmbeddingOptions& embedding_dim(std::int64_t value) { return embedding_dim_ = value, *this; }
  std::int64_t embedding_dim() const { return embedding_dim_; }
  EmbeddingOptions& padding_idx(optional<std::int64_t> value) { return padding_idx_ = value, *this; }
  const optional<std::int64_t>& padding_idx() const { return padding_idx_; }
  EmbeddingOptions& max_norm(optional<double> value) { return max_norm_ = value, *this; }
  const optional<double>& max_norm() const { return max_norm_; }
  EmbeddingOptions& norm_type(double value) { return norm_type_ = value, *this; }
  double norm_type() const { return norm_type_; }
  EmbeddingOptions& scale_grad_by_freq(bool value) { return scale_grad_by_freq_ = value, *this; }
  bool scale_grad_by_freq() const { return scale_grad_by_freq_; }
  EmbeddingOptions& sparse(bool value) { return sparse_ = value, *this; }
  bool sparse() const { return sparse_; }
  EmbeddingOptions& _weight(Variable value) { return _weight_ = std::move(value), *this; }
  const Variable& _weight() const { return _weight_; }

 private:
  std::int64_t num_embeddings_;
  std::int64_t embedding_dim_;
  optional<std::int64_t> padding_idx_;
  optional<double> max_norm_;
  double norm_type_ = 2.0;
  bool scale_grad_by_freq_ = false;
  bool sparse_ = false;
  Variable _weight_;
};

/// Options of Embedding::from_pretrained.
class EmbeddingFromPretrainedOptions {
 public:
  EmbeddingFromPretrainedOptions& freeze(bool value) { return freeze_ = value, *this; }
  bool freeze() const { return freeze_; }
  EmbeddingFromPretrainedOptions& padding_idx(optional<std::int64_t> value) {
    return padding_idx_ = value, *this;
  }
  const optional<std::int64_t>& padding_idx() const { return padding_idx_; }
  EmbeddingFromPretrainedOptions& max_norm(optional<double> value) { return max_norm_ = value, *this; }
  const optional<double>& max_norm() const { return max_norm_; }
  EmbeddingFromPretrainedOptions& norm_type(double value) { return norm_type_ = value, *this; }
  double norm_type() const { return norm_type_; }
  EmbeddingFromPretrainedOptions& scale_grad_by_freq(bool value) {
    return scale_grad_by_freq_ = value, *this;
  }
  bool scale_grad_by_freq() const { return scale_grad_by_freq_; }
  EmbeddingFromPretrainedOptions& sparse(bool value) { return sparse_ = value, *this; }
  bool sparse() const { return sparse_; }

 private:
  bool freeze_ = true;
  optional<std::int64_t> padding_idx_;
  optional<double> max_norm_;
  double norm_type_ = 2.0;
  bool scale_grad_by_freq_ = false;
  bool sparse_ = false;
};

using EmbeddingBagMode = OneOf<enumtype::kMean, enumtype::kSum, enumtype::kMax>;

/// Options of EmbeddingBag.
class EmbeddingBagOptions {
 public:
  EmbeddingBagOptions(std::int64_t num_embeddings, std::int64_t embedding_dim)
      : num_embeddings_(num_embeddings), embedding_dim_(embedding_dim) {}
  EmbeddingBagOptions& num_embeddings(std::int64_t value) { return num_embeddings_ = value, *this; }
  std::int64_t num_embeddings() const { return num_embeddings_; }
  EmbeddingBagOptions& embedding_dim(std::int64_t value) { return embedding_dim_ = value, *this; }
  std::int64_t embedding_dim() const { return embedding_dim_; }
  EmbeddingBagOptions& max_norm(optional<double> value) { return max_norm_ = value, *this; }
  const optional<double>& max_norm() const { return max_norm_; }
  EmbeddingBagOptions& norm_type(double value) { return norm_type_ = value, *this; }
  double norm_type() const { return norm_type_; }
  EmbeddingBagOptions& scale_grad_by_freq(bool value) { return scale_grad_by_freq_ = value, *this; }
  bool scale_grad_by_freq() const { return scale_grad_by_freq_; }
  EmbeddingBagOptions& sparse(bool value) { return sparse_ = value, *this; }
  bool sparse() const { return sparse_; }
  EmbeddingBagOptions& mode(EmbeddingBagMode value) { return mode_ = value, *this; }
  const EmbeddingBagMode& mode() const { return mode_; }
  EmbeddingBagOptions& include_last_offset(bool value) { return include_last_offset_ = value, *this; }
  bool include_last_offset() const { return include_last_offset_; }
  EmbeddingBagOptions& padding_idx(optional<std::int64_t> value) { return padding_idx_ = value, *this; }
  const optional<std::int64_t>& padding_idx() const { return padding_idx_; }
  EmbeddingBagOptions& _weight(Variable value) { return _weight_ = std::move(value), *this; }
  const Variable& _weight() const { return _weight_; }

 private:
  std::int64_t num_embeddings_;
  std::int64_t embedding_dim_;
  optional<double> max_norm_;
  double norm_type_ = 2.0;
  bool scale_grad_by_freq_ = false;
  bool sparse_ = false;
  EmbeddingBagMode mode_;
  bool include_last_offset_ = false;
  optional<std::int64_t> padding_idx_;
  Variable _weight_;
};

/// Options of EmbeddingBag::from_pretrained.
class EmbeddingBagFromPretrainedOptions {
 public:
  EmbeddingBagFromPretrainedOptions& freeze(bool value) { return freeze_ = value, *this; }
  bool freeze() const { return freeze_; }
  EmbeddingBagFromPretrainedOptions& max_norm(optional<double> value) { return max_norm_ = value, *this; }
  const optional<double>& max_norm() const { return max_norm_; }
  EmbeddingBagFromPretrainedOptions& norm_type(double value) { return norm_type_ = value, *this; }
  double norm_type() const { return norm_type_; }
  EmbeddingBagFromPretrainedOptions& scale_grad_by_freq(bool value) {
    return scale_grad_by_freq_ = value, *this;
  }
  bool scale_grad_by_freq() const { return scale_grad_by_freq_; }
  EmbeddingBagFromPretrainedOptions& sparse(bool value) { return sparse_ = value, *this; }
  bool sparse() const { return sparse_; }
  EmbeddingBagFromPretrainedOptions& mode(EmbeddingBagMode value) { return mode_ = value, *this; }
  const EmbeddingBagMode& mode() const { return mode_; }
  EmbeddingBagFromPretrainedOptions& include_last_offset(bool value) {
    return include_last_offset_ = value, *this;
  }
  bool include_last_offset() const { return include_last_offset_; }
  EmbeddingBagFromPretrainedOptions& padding_idx(optional<std::int64_t> value) {
    return padding_idx_ = value, *this;
  }
  const optional<std::int64_t>& padding_idx() const { return padding_idx_; }

 private:
  bool freeze_ = true;
  optional<double> max_norm_;
  double norm_type_ = 2.0;
  bool scale_grad_by_freq_ = false;
  bool sparse_ = false;
  EmbeddingBagMode mode_;
  bool include_last_offset_ = false;
  optional<std::int64_t> padding_idx_;
};

namespace functional {

/// Options of embedding.
class EmbeddingFuncOptions {
 public:
  EmbeddingFuncOptions& padding_idx(optional<std::int64_t> value) { return padding_idx_ = value, *this; }
  const optional<std::int64_t>& padding_idx() const { return padding_idx_; }
  EmbeddingFuncOptions& max_norm(optional<double> value) { return max_norm_ = value, *this; }
  const optional<double>& max_norm() const { return max_norm_; }
  EmbeddingFuncOptions& norm_type(double value) { return norm_type_ = value, *this; }
  double norm_type() const { return norm_type_; }
  EmbeddingFuncOptions& scale_grad_by_freq(bool value) { return scale_grad_by_freq_ = value, *this; }
  bool scale_grad_by_freq() const { return scale_grad_by_freq_; }
  EmbeddingFuncOptions& sparse(bool value) { return sparse_ = value, *this; }
  bool sparse() const { return sparse_; }

 private:
  optional<std::int64_t> padding_idx_;
  optional<double> max_norm_;
  double norm_type_ = 2.0;
  bool scale_grad_by_freq_ = false;
  bool sparse_ = false;
};

/// Options of embedding_bag.
class EmbeddingBagFuncOptions {
 public:
  EmbeddingBagFuncOptions& offsets(Variable value) { return offsets_ = std::move(value), *this; }
  const Variable& offsets() const { return offsets_; }
  EmbeddingBagFuncOptions& max_norm(optional<double> value) { return max_norm_ = value, *this; }
  const optional<double>& max_norm() const { return max_norm_; }
  EmbeddingBagFuncOptions& norm_type(double value) { return norm_type_ = value, *this; }
  double norm_type() const { return norm_type_; }
  EmbeddingBagFuncOptions& scale_grad_by_freq(bool value) { return scale_grad_by_freq_ = value, *this; }
  bool scale_grad_by_freq() const { return scale_grad_by_freq_; }
  EmbeddingBagFuncOptions& sparse(bool value) { return sparse_ = value, *this; }
  bool sparse() const { return sparse_; }
  EmbeddingBagFuncOptions& mode(EmbeddingBagMode value) { return mode_ = value, *this; }
  const EmbeddingBagMode& mode() const { return mode_; }
  EmbeddingBagFuncOptions& include_last_offset(bool value) { return include_last_offset_ = value, *this; }
  bool include_last_offset() const { return include_last_offset_; }
  EmbeddingBagFuncOptions& padding_idx(optional<std::int64_t> value) { return padding_idx_ = value, *this; }
  const optional<std::int64_t>& padding_idx() const { return padding_idx_; }
  EmbeddingBagFuncOptions& per_sample_weights(Variable value) {
    return per_sample_weights_ = std::move(value), *this;
  }
  const Variable& per_sample_weights() const { return per_sample_weights_; }

 private:
  Variable offsets_;
  optional<double> max_norm_;
  double norm_type_ = 2.0;
  bool scale_grad_by_freq_ = false;
  bool sparse_ = false;
  EmbeddingBagMode mode_;
  bool include_last_offset_ = false;
  optional<std::int64_t> padding_idx_;
  Variable per_sample_weights_;
};

}  // namespace functional

}  // namespace ebb::nn
