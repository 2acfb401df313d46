// Embedding functions and modules: embedding, embedding_bag, one_hot, Embedding, EmbeddingBag.
#include <ebb/autograd/grad_mode.h>
#include <ebb/nn/init.h>
#include <ebb/nn/modules/embedding.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/elementwise.h>
#include <ebb/ops/index.h>
#include <ebb/ops/reduce.h>
#include <ebb/ops/shape.h>

#include "nn/fields.h"
#include "nn/module_tools.h"

#include <algorithm>
#include <cmath>

namespace ebb::nn {

namespace functional {

namespace {

std::int64_t checked_padding(optional<std::int64_t> padding_idx, const Variable& weight) {
  if (!padding_idx) return -1;
  EBB_CHECK(*padding_idx < weight.size(0) && *padding_idx >= -weight.size(0),
            "Padding_idx must be within num_embeddings: got ", *padding_idx, " for ", weight.size(0),
            " rows.");
  return *padding_idx < 0 ? *padding_idx + weight.size(0) : *padding_idx;
}

}  // namespace

Variable one_hot(const Variable& tensor, std::int64_t num_classes) {
  return ebb::one_hot(tensor, num_classes);
}

Variable embedding(const Variable& input, const Variable& weight, const EmbeddingFuncOptions& o) {
  const std::int64_t padding = checked_padding(o.padding_idx(), weight);
  if (o.max_norm()) embedding_renorm_(weight, input, *o.max_norm(), o.norm_type());
  return ebb::embedding(weight, input, padding, o.scale_grad_by_freq(), o.sparse());
}

Variable embedding_bag(const Variable& input, const Variable& weight, const EmbeddingBagFuncOptions& o) {
  EBB_CHECK(input.dim() == 1 || input.dim() == 2, "embedding_bag: input has to be 1D or 2D Tensor, but got ",
            input.sizes());
  EBB_CHECK(
      (input.dim() == 1) == o.offsets().defined(),
      "embedding_bag: a 1D input needs offsets, and a 2D input, whose rows are the bags, must have none.");
  EBB_CHECK(!o.per_sample_weights().defined() || o.per_sample_weights().sizes() == input.sizes(),
            "embedding_bag: expected per_sample_weights of the input's shape, ", input.sizes(), ", got ",
            o.per_sample_weights().defined() ? o.per_sample_weights().sizes() : IntArrayRef(), ".");
  EBB_CHECK(
      !(o.mode() == kMax && o.sparse()),
      "embedding_bag: max mode does not support sparse weights. Leave `sparse` out: gradients are dense.");
  if (o.max_norm()) embedding_renorm_(weight, input, *o.max_norm(), o.norm_type());
  const bool is_matrix = input.dim() == 2;
  const Variable factors = o.per_sample_weights().defined() ? o.per_sample_weights().flatten() : Variable();
  const Variable offsets = is_matrix ? arange(input.size(0), input.options()) * input.size(1) : o.offsets();
  const std::int64_t mode = o.mode() == kSum ? 0 : o.mode() == kMean ? 1 : 2;
  return std::get<0>(ebb::embedding_bag(weight, input.flatten(), offsets, o.scale_grad_by_freq(), mode,
                                        o.sparse(), factors, !is_matrix && o.include_last_offset(),
                                        o.padding_idx()));
}

}  // namespace functional

namespace F = functional;

namespace {

/// Replaces a negative padding_idx, which counts from the end, by the index of its row.
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
  const Variable& given = m.options._weight();
  m.weight = m.register_parameter("weight", m.weight.defined() ? other_handle(given) : given);
}

template <class M>
void init_weight(M& m) {
  init::normal_(m.weight);
  if (!m.options.padding_idx()) return;
  NoGradGuard no_grad;
  m.weight.select(0, *m.options.padding_idx()).fill_(0);
}

template <class Options>
void print_common(Fields& out, const Options& o) {
  if (o.max_norm()) out("max_norm", o.max_norm());
  if (o.norm_type() != 2) out("norm_type", o.norm_type());
  out.flag("scale_grad_by_freq", o.scale_grad_by_freq()).flag("sparse", o.sparse());
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
  Fields out(stream, typeid(EmbeddingImpl));
  out("num_embeddings", options.num_embeddings())("embedding_dim", options.embedding_dim());
  if (options.padding_idx()) out("padding_idx", options.padding_idx());
  print_common(out, options);
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

template class Cloneable<EmbeddingImpl>;

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
  Fields out(stream, typeid(EmbeddingBagImpl));
  out("num_embeddings", options.num_embeddings())("embedding_dim", options.embedding_dim());
  print_common(out, options);
  if (!(options.mode() == kMean)) out("mode", options.mode().name());
  out.flag("include_last_offset", options.include_last_offset());
  if (options.padding_idx()) out("padding_idx", options.padding_idx());
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

template class Cloneable<EmbeddingBagImpl>;

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
