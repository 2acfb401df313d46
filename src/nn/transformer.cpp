// TransformerEncoder, TransformerDecoder and Transformer.
#include <ebb/nn/init.h>
#include <ebb/nn/modules/transformer.h>
#include <ebb/ops/creation.h>
#include <ebb/ops/shape.h>

#include "nn/module_tools.h"

#include <limits>

namespace ebb::nn {

namespace {

AnyModule copied(const AnyModule& module) { return module.is_empty() ? AnyModule() : module.clone(); }

template <class Layer>
ModuleList copies(const Layer& layer, std::int64_t count, const char* name) {
  EBB_CHECK(!layer.is_empty(), name, ": the layer to copy is an empty handle.");
  EBB_CHECK(count > 0, name, ": there must be at least one layer, got num_layers ", count, ".");
  ModuleList layers;
  for (std::int64_t i = 0; i < count; ++i) layers->push_back(layer->clone());
  return layers;
}

template <class Impl>
void reset_layers(const ModuleList& layers) {
  for (const std::shared_ptr<Module>& layer : *layers) layer->as<Impl>()->reset_parameters();
}

// Resets a LayerNorm or an RMSNorm. Other norms stay unchanged, because AnyModule gives no access to their
// reset_parameters().
void reset_norm(const AnyModule& norm) {
  if (norm.is_empty()) return;
  if (auto* const known = norm.ptr()->as<LayerNormImpl>()) known->reset_parameters();
  if (auto* const known = norm.ptr()->as<RMSNormImpl>()) known->reset_parameters();
}

}  // namespace

TransformerEncoderImpl::TransformerEncoderImpl(TransformerEncoderOptions options_)
    : options(std::move(options_)) {
  TransformerEncoderImpl::reset();
}

TransformerEncoderImpl::TransformerEncoderImpl(const TransformerEncoderImpl& other)
    : Cloneable(other), options(other.options), layers(other.layers) {
  options.norm(copied(options.norm()));
}

void TransformerEncoderImpl::reset() {
  layers =
      register_module("layers", copies(options.encoder_layer(), options.num_layers(), "TransformerEncoder"));
  if (!options.norm().is_empty()) register_module("norm", options.norm().ptr());
}

void TransformerEncoderImpl::reset_parameters() {
  reset_layers<TransformerEncoderLayerImpl>(layers);
  reset_norm(options.norm());
}

Variable TransformerEncoderImpl::forward(const Variable& src, const Variable& src_mask,
                                         const Variable& src_key_padding_mask, bool is_causal) {
  return at_path(*this, [&] {
    Variable x = src;
    for (const std::shared_ptr<Module>& layer : *layers)
      x = TransformerEncoderLayer(std::dynamic_pointer_cast<TransformerEncoderLayerImpl>(layer))(
          x, src_mask, src_key_padding_mask, is_causal);
    return options.norm().is_empty() ? x : options.norm().forward(x);
  });
}

template class Cloneable<TransformerEncoderImpl>;

TransformerDecoderImpl::TransformerDecoderImpl(TransformerDecoderOptions options_)
    : options(std::move(options_)) {
  TransformerDecoderImpl::reset();
}

TransformerDecoderImpl::TransformerDecoderImpl(const TransformerDecoderImpl& other)
    : Cloneable(other), options(other.options), layers(other.layers) {
  options.norm(copied(options.norm()));
}

void TransformerDecoderImpl::reset() {
  layers =
      register_module("layers", copies(options.decoder_layer(), options.num_layers(), "TransformerDecoder"));
  if (!options.norm().is_empty()) register_module("norm", options.norm().ptr());
}

void TransformerDecoderImpl::reset_parameters() {
  reset_layers<TransformerDecoderLayerImpl>(layers);
  reset_norm(options.norm());
}

Variable TransformerDecoderImpl::forward(const Variable& tgt, const Variable& memory,
                                         const Variable& tgt_mask, const Variable& memory_mask,
                                         const Variable& tgt_key_padding_mask,
                                         const Variable& memory_key_padding_mask, bool tgt_is_causal,
                                         bool memory_is_causal) {
  return at_path(*this, [&] {
    Variable x = tgt;
    for (const std::shared_ptr<Module>& layer : *layers)
      x = TransformerDecoderLayer(std::dynamic_pointer_cast<TransformerDecoderLayerImpl>(layer))(
          x, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask, tgt_is_causal,
          memory_is_causal);
    return options.norm().is_empty() ? x : options.norm().forward(x);
  });
}

template class Cloneable<TransformerDecoderImpl>;

TransformerImpl::TransformerImpl(TransformerOptions options_) : options(std::move(options_)) {
  TransformerImpl::reset();
}

TransformerImpl::TransformerImpl(const TransformerImpl& other)
    : Cloneable(other), options(other.options), encoder(other.encoder), decoder(other.decoder) {
  options.custom_encoder(copied(options.custom_encoder()));
  options.custom_decoder(copied(options.custom_decoder()));
}

void TransformerImpl::reset() {
  const auto layer = TransformerEncoderLayerOptions(options.d_model(), options.nhead())
                         .dim_feedforward(options.dim_feedforward())
                         .dropout(options.dropout())
                         .activation(options.activation())
                         .layer_norm_eps(options.layer_norm_eps())
                         .batch_first(options.batch_first())
                         .norm_first(options.norm_first())
                         .bias(options.bias());
  const auto norm = [&] {
    return AnyModule(
        LayerNorm(LayerNormOptions({options.d_model()}).eps(options.layer_norm_eps()).bias(options.bias())));
  };
  encoder = options.custom_encoder();
  if (encoder.is_empty())
    encoder = TransformerEncoder(TransformerEncoderOptions(layer, options.num_encoder_layers()).norm(norm()));
  decoder = options.custom_decoder();
  if (decoder.is_empty())
    decoder = TransformerDecoder(
        TransformerDecoderOptions(TransformerDecoderLayer(layer), options.num_decoder_layers()).norm(norm()));
  register_module("encoder", encoder.ptr());
  register_module("decoder", decoder.ptr());
  reset_parameters();
}

void TransformerImpl::reset_parameters() {
  for (const Variable& parameter : parameters())
    if (parameter.dim() > 1) init::xavier_uniform_(parameter);
}

Variable TransformerImpl::forward(const Variable& src, const Variable& tgt, const Variable& src_mask,
                                  const Variable& tgt_mask, const Variable& memory_mask,
                                  const Variable& src_key_padding_mask, const Variable& tgt_key_padding_mask,
                                  const Variable& memory_key_padding_mask, bool src_is_causal,
                                  bool tgt_is_causal, bool memory_is_causal) {
  return at_path(*this, [&] {
    EBB_CHECK((src.dim() == 2 || src.dim() == 3) && src.dim() == tgt.dim(),
              "Transformer: src and tgt must both be of 3 dimensions (batched) or both of 2, got shapes ",
              src.sizes(), " and ", tgt.sizes(), ".");
    const std::int64_t batch = options.batch_first() ? 0 : 1;
    EBB_CHECK(src.dim() == 2 || src.size(batch) == tgt.size(batch),
              "Transformer: the batch number of src and tgt must be equal, got shapes ", src.sizes(), " and ",
              tgt.sizes(), options.batch_first() ? " (N, L, E)." : " (L, N, E).");
    EBB_CHECK(src.size(-1) == options.d_model() && tgt.size(-1) == options.d_model(),
              "Transformer: the feature number of src and tgt must be equal to d_model, ", options.d_model(),
              ", got shapes ", src.sizes(), " and ", tgt.sizes(), ".");
    const Variable memory =
        options.custom_encoder().is_empty()
            ? encoder.get<TransformerEncoder>()(src, src_mask, src_key_padding_mask, src_is_causal)
            : encoder.forward(src, src_mask, src_key_padding_mask);
    if (!options.custom_decoder().is_empty())
      return decoder.forward(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
                             memory_key_padding_mask);
    return decoder.get<TransformerDecoder>()(tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask,
                                             memory_key_padding_mask, tgt_is_causal, memory_is_causal);
  });
}

Variable TransformerImpl::generate_square_subsequent_mask(std::int64_t sz, const TensorOptions& options) {
  EBB_CHECK(sz >= 0, "generate_square_subsequent_mask: the size must not be negative, got ", sz, ".");
  return full({sz, sz}, -std::numeric_limits<double>::infinity(), options).triu(1);
}

template class Cloneable<TransformerImpl>;

}  // namespace ebb::nn
