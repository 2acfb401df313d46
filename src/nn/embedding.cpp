#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/functional/embedding.h>
#include <ebb/nn/init.h>
#include <ebb/nn/modules/embedding.h>
#include <ebb/ops/copy.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/shape.h>

#include <ostream>

#include "nn/module_tools.h"
#include "nn/print.h"

namespace ebb::nn {

namespace F = functional;

namespace {

/// Counts a negative padding_idx from the end.
template <class Options>
void wrap_padding(Options& options) {
  if (!options.padding_idx()) return;
  const std::int64_t index = *options.padding_idx(), rows = options.num_embeddings();
  EBB_CHECK(index >= -rows && index < rows, "Embedding: Padding_idx must be within num_embeddings, got ",
            index, " for ", rows, " rows.");
  if (index < 0) options.padding_idx(index + rows);
}

template <class M>
void make_weight(M& m) {
  wrap_padding(m.options);
  if (!m.options._weight().defined()) {
    m.weight = m.register_parameter("weight", empty({m.options.num_embeddings(), m.options.embedding_dim()}));
    m.reset_parameters();
    return;
  }
  EBB_CHECK(
      m.options._weight().sizes() == IntArrayRef({m.options.num_embeddings(), m.options.embedding_dim()}),
      "Shape of _weight does not match num_embeddings and embedding_dim: got ", m.options._weight().sizes(),
      ".");
  m.weight = m.register_parameter("weight", m.options._weight());
}

template <class M>
void init_weight(M& m) {
  init::normal_(m.weight);
  if (!m.options.padding_idx()) return;
  NoGradGuard no_grad;
  m.weight.select(0, *m.options.padding_idx()).fill_(0);
}

template <class Options>
void print_common(std::ostream& stream, const Options& options) {
  if (options.max_norm()) stream << ", max_norm=" << *options.max_norm();
  if (options.norm_type() != 2) stream << ", norm_type=" << options.norm_type();
  if (options.scale_grad_by_freq()) stream << ", scale_grad_by_freq=true";
  if (options.sparse()) stream << ", sparse=true";
}

void check_table(const Variable& embeddings) {
  EBB_CHECK(embeddings.dim() == 2, "Embeddings parameter is expected to be 2-dimensional, got ",
            embeddings.sizes(), ".");
}

}  // namespace

EmbeddingImpl::EmbeddingImpl(EmbeddingOptions options_) : options(std::move(options_)) {
  EmbeddingImpl::reset();
}
void EmbeddingImpl::reset() { make_weight(*this); }
void EmbeddingImpl::reset_parameters() { init_weight(*this); }
void EmbeddingImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::Embedding(num_embeddings=" << options.num_embeddings()
         << ", embedding_dim=" << options.embedding_dim();
  if (options.padding_idx()) stream << ", padding_idx=" << *options.padding_idx();
  print_common(stream, options);
  stream << ")";
}
Variable EmbeddingImpl::forward(const Variable& input) {
  return at_path(*this, [&] {
    return F::embedding(input, weight,
                        F::EmbeddingFuncOptions()
                            .padding_idx(options.padding_idx())
                            .max_norm(options.max_norm())
                            .norm_type(options.norm_type())
                            .scale_grad_by_freq(options.scale_grad_by_freq())
                            .sparse(options.sparse()));
  });
}

Embedding Embedding::from_pretrained(const Variable& embeddings,
                                     const EmbeddingFromPretrainedOptions& options) {
  check_table(embeddings);
  Embedding out(EmbeddingOptions(embeddings.size(0), embeddings.size(1))
                    ._weight(embeddings)
                    .padding_idx(options.padding_idx())
                    .max_norm(options.max_norm())
                    .norm_type(options.norm_type())
                    .scale_grad_by_freq(options.scale_grad_by_freq())
                    .sparse(options.sparse()));
  out->weight.set_requires_grad(!options.freeze());
  return out;
}

EmbeddingBagImpl::EmbeddingBagImpl(EmbeddingBagOptions options_) : options(std::move(options_)) {
  EmbeddingBagImpl::reset();
}
void EmbeddingBagImpl::reset() { make_weight(*this); }
void EmbeddingBagImpl::reset_parameters() { init_weight(*this); }
void EmbeddingBagImpl::pretty_print(std::ostream& stream) const {
  stream << "ebb::nn::EmbeddingBag(num_embeddings=" << options.num_embeddings()
         << ", embedding_dim=" << options.embedding_dim();
  print_common(stream, options);
  if (!(options.mode() == kMean)) stream << ", mode=" << options.mode().name();
  if (options.include_last_offset()) stream << ", include_last_offset=true";
  if (options.padding_idx()) stream << ", padding_idx=" << *options.padding_idx();
  stream << ")";
}
Variable EmbeddingBagImpl::forward(const Variable& input, const Variable& offsets,
                                   const Variable& per_sample_weights) {
  return at_path(*this, [&] {
    return F::embedding_bag(input, weight,
                            F::EmbeddingBagFuncOptions()
                                .offsets(offsets)
                                .max_norm(options.max_norm())
                                .norm_type(options.norm_type())
                                .scale_grad_by_freq(options.scale_grad_by_freq())
                                .mode(options.mode())
                                .sparse(options.sparse())
                                .per_sample_weights(per_sample_weights)
                                .include_last_offset(options.include_last_offset())
                                .padding_idx(options.padding_idx()));
  });
}

EmbeddingBag EmbeddingBag::from_pretrained(const Variable& embeddings,
                                           const EmbeddingBagFromPretrainedOptions& options) {
  check_table(embeddings);
  EmbeddingBag out(EmbeddingBagOptions(embeddings.size(0), embeddings.size(1))
                       ._weight(embeddings)
                       .max_norm(options.max_norm())
                       .norm_type(options.norm_type())
                       .scale_grad_by_freq(options.scale_grad_by_freq())
                       .mode(options.mode())
                       .sparse(options.sparse())
                       .include_last_offset(options.include_last_offset())
                       .padding_idx(options.padding_idx()));
  out->weight.set_requires_grad(!options.freeze());
  return out;
}

}  // namespace ebb::nn
