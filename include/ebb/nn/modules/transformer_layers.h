// TransformerEncoderLayer and TransformerDecoderLayer as modules.
#pragma once

#include <ebb/nn/enums.h>
#include <ebb/nn/modules/dropout.h>
#include <ebb/nn/modules/linear.h>
#include <ebb/nn/modules/multi_head_attention.h>
#include <ebb/nn/modules/norm.h>

#include <functional>

namespace ebb::nn {

/// The activation function between the two linear maps of a layer: kReLU, kGELU, or any function of a tensor.
class EBB_API TransformerActivation {
 public:
  using Function = std::function<Variable(const Variable&)>;

  TransformerActivation() : TransformerActivation(kReLU) {}
  TransformerActivation(enumtype::kReLU);
  TransformerActivation(enumtype::kGELU);
  template <class F>
    requires(std::is_invocable_r_v<Variable, F&, const Variable&> &&
             !std::is_same_v<std::remove_cvref_t<F>, TransformerActivation>)
  TransformerActivation(F&& function) : function_(std::forward<F>(function)) {}

  /// Applies the function. Throws if it is empty.
  Variable operator()(const Variable& x) const;

 private:
  Function function_;
};

/// Options of TransformerEncoderLayer.
class EBB_API TransformerEncoderLayerOptions {
 public:
  TransformerEncoderLayerOptions(std::int64_t d_model, std::int64_t nhead)
      : d_model_(d_model), nhead_(nhead) {}

  EBB_ARG(std::int64_t, d_model);                 ///< width of inputs and results
  EBB_ARG(std::int64_t, nhead);                   ///< number of heads; divides d_model
  EBB_ARG(std::int64_t, dim_feedforward) = 2048;  ///< hidden width of the feed-forward part
  EBB_ARG(double, dropout) = 0.1;                 ///< dropout of weights and before each residual addition
  EBB_ARG(TransformerActivation, activation);     ///< kReLU, kGELU, or a function
  EBB_ARG(double, layer_norm_eps) = 1e-5;         ///< eps of the normalizations
  EBB_ARG(bool, batch_first) = false;             ///< batched tensors are (N, L, E), not (L, N, E)
  EBB_ARG(bool, norm_first) = false;              ///< normalizes the input of each part instead of the sum
  EBB_ARG(bool, bias) = true;                     ///< whether all linear maps and normalizations have a bias
};

using TransformerDecoderLayerOptions = TransformerEncoderLayerOptions;

/// Self-attention and a feed-forward part, each with a skip connection and a normalization (Vaswani et al.
/// 2017; with norm_first Xiong et al. 2020). Maps (L, N, E) to (L, N, E), or (N, L, E) with batch_first, or
/// (L, E). Submodules are self_attn, linear1, linear2, norm1, norm2 (torch::nn::TransformerEncoderLayer).
class EBB_API TransformerEncoderLayerImpl : public Cloneable<TransformerEncoderLayerImpl> {
 public:
  TransformerEncoderLayerImpl(std::int64_t d_model, std::int64_t nhead)
      : TransformerEncoderLayerImpl(TransformerEncoderLayerOptions(d_model, nhead)) {}
  explicit TransformerEncoderLayerImpl(TransformerEncoderLayerOptions options_);
  void reset() override;
  void reset_parameters();
  /// Masks are those of MultiheadAttention. is_causal declares that src_mask is the causal mask.
  Variable forward(const Variable& src, const Variable& src_mask = {},
                   const Variable& src_key_padding_mask = {}, bool is_causal = false);

  TransformerEncoderLayerOptions options;
  MultiheadAttention self_attn = nullptr;
  Linear linear1 = nullptr;
  Dropout dropout = nullptr;
  Linear linear2 = nullptr;
  LayerNorm norm1 = nullptr, norm2 = nullptr;
  Dropout dropout1 = nullptr, dropout2 = nullptr;
};
EBB_LIBRARY_MODULE(TransformerEncoderLayer);

/// A TransformerEncoderLayer with attention to an encoder's result, `memory`, between the two parts.
/// Submodules are self_attn, multihead_attn, linear1, linear2, norm1, norm2, norm3
/// (torch::nn::TransformerDecoderLayer).
class EBB_API TransformerDecoderLayerImpl : public Cloneable<TransformerDecoderLayerImpl> {
 public:
  TransformerDecoderLayerImpl(std::int64_t d_model, std::int64_t nhead)
      : TransformerDecoderLayerImpl(TransformerDecoderLayerOptions(d_model, nhead)) {}
  explicit TransformerDecoderLayerImpl(TransformerDecoderLayerOptions options_);
  void reset() override;
  void reset_parameters();
  /// Masks are those of MultiheadAttention. The last two arguments declare that tgt_mask and memory_mask are
  /// causal.
  Variable forward(const Variable& tgt, const Variable& memory, const Variable& tgt_mask = {},
                   const Variable& memory_mask = {}, const Variable& tgt_key_padding_mask = {},
                   const Variable& memory_key_padding_mask = {}, bool tgt_is_causal = false,
                   bool memory_is_causal = false);

  TransformerDecoderLayerOptions options;
  MultiheadAttention self_attn = nullptr, multihead_attn = nullptr;
  Linear linear1 = nullptr;
  Dropout dropout = nullptr;
  Linear linear2 = nullptr;
  LayerNorm norm1 = nullptr, norm2 = nullptr, norm3 = nullptr;
  Dropout dropout1 = nullptr, dropout2 = nullptr, dropout3 = nullptr;
};
EBB_LIBRARY_MODULE(TransformerDecoderLayer);

}  // namespace ebb::nn
