// Transformer, TransformerEncoder and TransformerDecoder as modules.
#pragma once

#include <ebb/nn/any_module.h>
#include <ebb/nn/modules/container.h>
#include <ebb/nn/modules/transformer_layers.h>

namespace ebb::nn {

/// Options of TransformerEncoder.
class EBB_API TransformerEncoderOptions {
 public:
  TransformerEncoderOptions(TransformerEncoderLayer encoder_layer, std::int64_t num_layers)
      : encoder_layer_(std::move(encoder_layer)), num_layers_(num_layers) {}
  TransformerEncoderOptions(const TransformerEncoderLayerOptions& encoder_layer_options,
                            std::int64_t num_layers)
      : encoder_layer_(encoder_layer_options), num_layers_(num_layers) {}

  EBB_ARG(TransformerEncoderLayer, encoder_layer) = nullptr;  ///< the layer to copy, with its parameter
                                                              ///< values
  EBB_ARG(std::int64_t, num_layers);                          ///< number of copies
  EBB_ARG(AnyModule, norm);                                   ///< applied to the last result, if any
};

/// Stacked layers: layers.0, layers.1, ..., and norm (torch::nn::TransformerEncoder).
class EBB_API TransformerEncoderImpl : public Cloneable<TransformerEncoderImpl> {
 public:
  TransformerEncoderImpl(TransformerEncoderLayer encoder_layer, std::int64_t num_layers)
      : TransformerEncoderImpl(TransformerEncoderOptions(std::move(encoder_layer), num_layers)) {}
  explicit TransformerEncoderImpl(TransformerEncoderOptions options_);
  /// Copies the normalization too.
  TransformerEncoderImpl(const TransformerEncoderImpl& other);
  TransformerEncoderImpl& operator=(const TransformerEncoderImpl&) = default;
  ~TransformerEncoderImpl() override = default;
  void reset() override;
  void reset_parameters();
  /// Arguments and result are those of TransformerEncoderLayer's forward().
  Variable forward(const Variable& src, const Variable& src_mask = {},
                   const Variable& src_key_padding_mask = {}, bool is_causal = false);

  TransformerEncoderOptions options;
  ModuleList layers = nullptr;
};
EBB_LIBRARY_MODULE(TransformerEncoder);

/// Options of TransformerDecoder.
class EBB_API TransformerDecoderOptions {
 public:
  TransformerDecoderOptions(TransformerDecoderLayer decoder_layer, std::int64_t num_layers)
      : decoder_layer_(std::move(decoder_layer)), num_layers_(num_layers) {}
  TransformerDecoderOptions(const TransformerDecoderLayerOptions& decoder_layer_options,
                            std::int64_t num_layers)
      : decoder_layer_(decoder_layer_options), num_layers_(num_layers) {}

  EBB_ARG(TransformerDecoderLayer, decoder_layer) = nullptr;  ///< the layer to copy, with its parameter
                                                              ///< values
  EBB_ARG(std::int64_t, num_layers);                          ///< number of copies
  EBB_ARG(AnyModule, norm);                                   ///< applied to the last result, if any
};

/// Stacked layers: layers.0, layers.1, ..., and norm (torch::nn::TransformerDecoder).
class EBB_API TransformerDecoderImpl : public Cloneable<TransformerDecoderImpl> {
 public:
  TransformerDecoderImpl(TransformerDecoderLayer decoder_layer, std::int64_t num_layers)
      : TransformerDecoderImpl(TransformerDecoderOptions(std::move(decoder_layer), num_layers)) {}
  explicit TransformerDecoderImpl(TransformerDecoderOptions options_);
  /// Copies the normalization too.
  TransformerDecoderImpl(const TransformerDecoderImpl& other);
  TransformerDecoderImpl& operator=(const TransformerDecoderImpl&) = default;
  ~TransformerDecoderImpl() override = default;
  void reset() override;
  void reset_parameters();
  /// Arguments and result are those of TransformerDecoderLayer's forward().
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
  EBB_ARG(std::int64_t, nhead) = 8;               ///< number of heads; divides d_model
  EBB_ARG(std::int64_t, num_encoder_layers) = 6;  ///< layers of the encoder
  EBB_ARG(std::int64_t, num_decoder_layers) = 6;  ///< layers of the decoder
  EBB_ARG(std::int64_t, dim_feedforward) = 2048;  ///< hidden width of the feed-forward part
  EBB_ARG(double, dropout) = 0.1;                 ///< dropout of weights and before each residual addition
  EBB_ARG(TransformerActivation, activation);     ///< kReLU, kGELU, or a function
  EBB_ARG(AnyModule, custom_encoder);             ///< called with (src, src_mask, src_key_padding_mask)
  /// Called with (tgt, memory, tgt_mask, memory_mask, tgt_key_padding_mask, memory_key_padding_mask).
  EBB_ARG(AnyModule, custom_decoder);
  EBB_ARG(double, layer_norm_eps) = 1e-5;  ///< eps of the normalizations
  EBB_ARG(bool, batch_first) = false;      ///< batched tensors are (N, L, E), not (L, N, E)
  EBB_ARG(bool, norm_first) = false;       ///< normalizes the input of each part instead of the sum
  EBB_ARG(bool, bias) = true;              ///< whether all linear maps and normalizations have a bias
};

/// An encoder of a source, and a decoder of a target that attends to the encoder's result (Vaswani et al.
/// 2017). src (S, N, E) and tgt (T, N, E) give (T, N, E). With batch_first, N is the first dimension; without
/// a batch, there is no N. Submodules are encoder.layers.0, ..., encoder.norm, decoder.layers.0, ...,
/// decoder.norm. Initial matrices are Xavier uniform (torch::nn::Transformer).
class EBB_API TransformerImpl : public Cloneable<TransformerImpl> {
 public:
  TransformerImpl() : TransformerImpl(TransformerOptions()) {}
  TransformerImpl(std::int64_t d_model, std::int64_t nhead)
      : TransformerImpl(TransformerOptions(d_model, nhead)) {}
  explicit TransformerImpl(TransformerOptions options_);
  /// Copies custom encoders and decoders too.
  TransformerImpl(const TransformerImpl& other);
  TransformerImpl& operator=(const TransformerImpl&) = default;
  ~TransformerImpl() override = default;
  void reset() override;
  void reset_parameters();
  /// Masks are those of MultiheadAttention. The last three arguments declare that src_mask, tgt_mask and
  /// memory_mask are causal; they are invalid for custom encoders and decoders.
  Variable forward(const Variable& src, const Variable& tgt, const Variable& src_mask = {},
                   const Variable& tgt_mask = {}, const Variable& memory_mask = {},
                   const Variable& src_key_padding_mask = {}, const Variable& tgt_key_padding_mask = {},
                   const Variable& memory_key_padding_mask = {}, bool src_is_causal = false,
                   bool tgt_is_causal = false, bool memory_is_causal = false);
  /// Returns a mask (sz, sz): 0 where j <= i (query i attends to key j), and -infinity elsewhere. The default
  /// dtype is Float.
  static Variable generate_square_subsequent_mask(std::int64_t sz, const TensorOptions& options = {});

  TransformerOptions options;
  AnyModule encoder, decoder;
};
EBB_LIBRARY_MODULE(Transformer);

}  // namespace ebb::nn
