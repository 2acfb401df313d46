// Transformers: stacks of encoder and decoder layers, and both together.
#pragma once

#include <ebb/nn/any_module.h>
#include <ebb/nn/modules/container.h>
#include <ebb/nn/modules/transformer_layers.h>

namespace ebb::nn {

/// Options of TransformerEncoder: the layer to copy, and how many copies there are.
class EBB_API TransformerEncoderOptions {
 public:
  TransformerEncoderOptions(TransformerEncoderLayer encoder_layer, std::int64_t num_layers)
      : encoder_layer_(std::move(encoder_layer)), num_layers_(num_layers) {}
  TransformerEncoderOptions(const TransformerEncoderLayerOptions& encoder_layer_options,
                            std::int64_t num_layers)
      : encoder_layer_(encoder_layer_options), num_layers_(num_layers) {}

  EBB_ARG(TransformerEncoderLayer, encoder_layer) = nullptr;  ///< is copied, its numbers with it
  EBB_ARG(std::int64_t, num_layers);                          ///< number of copies
  EBB_ARG(AnyModule, norm);                                   ///< what the last result goes through, if any
};

/// Layers one after the other: layers.0, layers.1, ..., and norm (torch::nn::TransformerEncoder).
class EBB_API TransformerEncoderImpl : public Cloneable<TransformerEncoderImpl> {
 public:
  TransformerEncoderImpl(TransformerEncoderLayer encoder_layer, std::int64_t num_layers)
      : TransformerEncoderImpl(TransformerEncoderOptions(std::move(encoder_layer), num_layers)) {}
  explicit TransformerEncoderImpl(TransformerEncoderOptions options_);
  /// A copy's normalisation is a copy, too.
  TransformerEncoderImpl(const TransformerEncoderImpl& other);
  TransformerEncoderImpl& operator=(const TransformerEncoderImpl&) = default;
  ~TransformerEncoderImpl() override = default;
  void reset() override;
  void reset_parameters();
  /// As TransformerEncoderLayer.
  Variable forward(const Variable& src, const Variable& src_mask = {},
                   const Variable& src_key_padding_mask = {}, bool is_causal = false);

  TransformerEncoderOptions options;
  ModuleList layers = nullptr;
};
EBB_LIBRARY_MODULE(TransformerEncoder);

/// Options of TransformerDecoder: the layer to copy, and how many copies there are.
class EBB_API TransformerDecoderOptions {
 public:
  TransformerDecoderOptions(TransformerDecoderLayer decoder_layer, std::int64_t num_layers)
      : decoder_layer_(std::move(decoder_layer)), num_layers_(num_layers) {}
  TransformerDecoderOptions(const TransformerDecoderLayerOptions& decoder_layer_options,
                            std::int64_t num_layers)
      : decoder_layer_(decoder_layer_options), num_layers_(num_layers) {}

  EBB_ARG(TransformerDecoderLayer, decoder_layer) = nullptr;  ///< is copied, its numbers with it
  EBB_ARG(std::int64_t, num_layers);                          ///< number of copies
  EBB_ARG(AnyModule, norm);                                   ///< what the last result goes through, if any
};

/// Layers one after the other: layers.0, layers.1, ..., and norm (torch::nn::TransformerDecoder).
class EBB_API TransformerDecoderImpl : public Cloneable<TransformerDecoderImpl> {
 public:
  TransformerDecoderImpl(TransformerDecoderLayer decoder_layer, std::int64_t num_layers)
      : TransformerDecoderImpl(TransformerDecoderOptions(std::move(decoder_layer), num_layers)) {}
  explicit TransformerDecoderImpl(TransformerDecoderOptions options_);
  /// A copy's normalisation is a copy, too.
  TransformerDecoderImpl(const TransformerDecoderImpl& other);
  TransformerDecoderImpl& operator=(const TransformerDecoderImpl&) = default;
  ~TransformerDecoderImpl() override = default;
  void reset() override;
  void reset_parameters();
  /// As TransformerDecoderLayer.
  Variable forward(const Variable& tgt, const Variable& memory, const Variable& tgt_mask = {},
                   const Variable& memory_mask = {}, const Variable& tgt_key_padding_mask = {},
                   const Variable& memory_key_padding_mask = {}, bool tgt_is_causal = false,
                   bool memory_is_causal = false);

  TransformerDecoderOptions options;
  ModuleList layers = nullptr;
};
EBB_LIBRARY_MODULE(TransformerDecoder);

/// Options of Transformer.
class EBB_API TransformerOptions {
 public:
  TransformerOptions() = default;
  TransformerOptions(std::int64_t d_model, std::int64_t nhead) : d_model_(d_model), nhead_(nhead) {}
  TransformerOptions(std::int64_t d_model, std::int64_t nhead, std::int64_t num_encoder_layers,
                     std::int64_t num_decoder_layers)
      : d_model_(d_model),
        nhead_(nhead),
        num_encoder_layers_(num_encoder_layers),
        num_decoder_layers_(num_decoder_layers) {}

  EBB_ARG(std::int64_t, d_model) = 512;           ///< width of inputs and results
  EBB_ARG(std::int64_t, nhead) = 8;               ///< heads; divides d_model
  EBB_ARG(std::int64_t, num_encoder_layers) = 6;  ///< layers of the encoder
  EBB_ARG(std::int64_t, num_decoder_layers) = 6;  ///< layers of the decoder
  EBB_ARG(std::int64_t, dim_feedforward) = 2048;  ///< width between the linear maps
  EBB_ARG(double, dropout) = 0.1;                 ///< of weights and of what each part adds, in training
  EBB_ARG(TransformerActivation, activation);     ///< kReLU, kGELU, or a function
  EBB_ARG(AnyModule, custom_encoder);             ///< called with (src, src_mask, src_key_padding_mask)
  /// Called with (tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask).
  EBB_ARG(AnyModule, custom_decoder);
  EBB_ARG(double, layer_norm_eps) = 1e-5;  ///< of the normalisations
  EBB_ARG(bool, batch_first) = false;      ///< batched tensors are (N, L, E), not (L, N, E)
  EBB_ARG(bool, norm_first) = false;       ///< normalises what goes into each part, not the sums
  EBB_ARG(bool, bias) = true;              ///< of projections, linear maps and normalisations
};

/// An encoder of a source and a decoder of a target that looks at its result (Vaswani et al. 2017): src
/// (S, N, E) and tgt (T, N, E) to (T, N, E), (N, S, E) and so on with batch_first, or without N. Parts are
/// encoder.layers.0, ..., encoder.norm, decoder.layers.0, ..., decoder.norm; matrices start from Xavier's
/// uniform distribution (torch::nn::Transformer).
class EBB_API TransformerImpl : public Cloneable<TransformerImpl> {
 public:
  TransformerImpl() : TransformerImpl(TransformerOptions()) {}
  TransformerImpl(std::int64_t d_model, std::int64_t nhead)
      : TransformerImpl(TransformerOptions(d_model, nhead)) {}
  explicit TransformerImpl(TransformerOptions options_);
  /// A copy's own encoder and decoder are copies, too.
  TransformerImpl(const TransformerImpl& other);
  TransformerImpl& operator=(const TransformerImpl&) = default;
  ~TransformerImpl() override = default;
  void reset() override;
  void reset_parameters();
  /// Masks are MultiheadAttention's; the last three promise that src_mask, tgt_mask and memory_mask are
  /// causal ones, and are not for custom encoders and decoders.
  Variable forward(const Variable& src, const Variable& tgt, const Variable& src_mask = {},
                   const Variable& tgt_mask = {}, const Variable& memory_mask = {},
                   const Variable& src_key_padding_mask = {}, const Variable& tgt_key_padding_mask = {},
                   const Variable& memory_key_padding_mask = {}, bool src_is_causal = false,
                   bool tgt_is_causal = false, bool memory_is_causal = false);
  /// (sz, sz): 0 where query i may see key j <= i, and -infinity elsewhere; Float unless another dtype is
  /// asked for.
  static Variable generate_square_subsequent_mask(std::int64_t sz, const TensorOptions& options = {});

  TransformerOptions options;
  AnyModule encoder, decoder;
};
EBB_LIBRARY_MODULE(Transformer);

}  // namespace ebb::nn
