// TransformerEncoderLayer and TransformerDecoderLayer.
#include <ebb/nn/functional/activation.h>
#include <ebb/nn/modules/transformer_layers.h>
#include <ebb/ops/elementwise.h>

#include "nn/module_tools.h"

#include <utility>

namespace ebb::nn {

namespace F = functional;

TransformerActivation::TransformerActivation(enumtype::kReLU)
    : function_([](const Variable& x) { return F::relu(x); }) {}
TransformerActivation::TransformerActivation(enumtype::kGELU)
    : function_([](const Variable& x) { return F::gelu(x); }) {}

Variable TransformerActivation::operator()(const Variable& x) const {
  EBB_CHECK(function_,
            "The activation of a transformer's layer is an empty function. Pass kReLU, kGELU or a "
            "function of a tensor.");
  return function_(x);
}

namespace {

/// Registers attention, linear maps, normalisations and dropouts in the order of PyTorch's state_dict.
class Parts {
 public:
  Parts(Module& module, const TransformerEncoderLayerOptions& options) : module_(module), o_(options) {}

  MultiheadAttention attention(const char* name) {
    return module_.register_module(name,
                                   MultiheadAttention(MultiheadAttentionOptions(o_.d_model(), o_.nhead())
                                                          .dropout(o_.dropout())
                                                          .bias(o_.bias())
                                                          .batch_first(o_.batch_first())));
  }
  Linear widening(const char* name) {
    return module_.register_module(name,
                                   Linear(LinearOptions(o_.d_model(), o_.dim_feedforward()).bias(o_.bias())));
  }
  Linear narrowing(const char* name) {
    return module_.register_module(name,
                                   Linear(LinearOptions(o_.dim_feedforward(), o_.d_model()).bias(o_.bias())));
  }
  LayerNorm norm(const char* name) {
    return module_.register_module(
        name, LayerNorm(LayerNormOptions({o_.d_model()}).eps(o_.layer_norm_eps()).bias(o_.bias())));
  }
  Dropout dropout(const char* name) { return module_.register_module(name, Dropout(o_.dropout())); }

 private:
  Module& module_;
  const TransformerEncoderLayerOptions& o_;
};

/// Returns true if dropout draws on the CPU, because attention must then compute its weights explicitly. The
/// dropout then draws the same random values as libtorch, which always computes the weights.
bool makes_weights(const Module& layer, const TransformerEncoderLayerOptions& options, const Variable& x) {
  return layer.is_training() && options.dropout() > 0 && x.is_cpu();
}

/// Adds part(x) to x. Normalises before (`norm_first`) or after.
template <class Part>
Variable step(const Variable& x, LayerNorm& norm, bool norm_first, const Part& part) {
  return norm_first ? x + part(norm(x)) : norm(x + part(x));
}

}  // namespace

TransformerEncoderLayerImpl::TransformerEncoderLayerImpl(TransformerEncoderLayerOptions options_)
    : options(std::move(options_)) {
  TransformerEncoderLayerImpl::reset();
}

void TransformerEncoderLayerImpl::reset() {
  Parts parts(*this, options);
  self_attn = parts.attention("self_attn");
  linear1 = parts.widening("linear1");
  dropout = parts.dropout("dropout");
  linear2 = parts.narrowing("linear2");
  norm1 = parts.norm("norm1");
  norm2 = parts.norm("norm2");
  dropout1 = parts.dropout("dropout1");
  dropout2 = parts.dropout("dropout2");
}

void TransformerEncoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  linear1->reset_parameters();
  linear2->reset_parameters();
  norm1->reset_parameters();
  norm2->reset_parameters();
}

Variable TransformerEncoderLayerImpl::forward(const Variable& src, const Variable& src_mask,
                                              const Variable& src_key_padding_mask, bool is_causal) {
  return at_path(*this, [&] {
    const bool weights = makes_weights(*this, options, src);
    const auto attend = [&](const Variable& x) {
      return dropout1(
          std::get<0>(self_attn(x, x, x, src_key_padding_mask, weights, src_mask, true, is_causal)));
    };
    const auto feed = [&](const Variable& x) {
      return dropout2(linear2(dropout(options.activation()(linear1(x)))));
    };
    const Variable x = step(src, norm1, options.norm_first(), attend);
    return step(x, norm2, options.norm_first(), feed);
  });
}

template class Cloneable<TransformerEncoderLayerImpl>;

TransformerDecoderLayerImpl::TransformerDecoderLayerImpl(TransformerDecoderLayerOptions options_)
    : options(std::move(options_)) {
  TransformerDecoderLayerImpl::reset();
}

void TransformerDecoderLayerImpl::reset() {
  Parts parts(*this, options);
  self_attn = parts.attention("self_attn");
  multihead_attn = parts.attention("multihead_attn");
  linear1 = parts.widening("linear1");
  dropout = parts.dropout("dropout");
  linear2 = parts.narrowing("linear2");
  norm1 = parts.norm("norm1");
  norm2 = parts.norm("norm2");
  norm3 = parts.norm("norm3");
  dropout1 = parts.dropout("dropout1");
  dropout2 = parts.dropout("dropout2");
  dropout3 = parts.dropout("dropout3");
}

void TransformerDecoderLayerImpl::reset_parameters() {
  self_attn->_reset_parameters();
  multihead_attn->_reset_parameters();
  linear1->reset_parameters();
  linear2->reset_parameters();
  norm1->reset_parameters();
  norm2->reset_parameters();
  norm3->reset_parameters();
}

Variable TransformerDecoderLayerImpl::forward(const Variable& tgt, const Variable& memory,
                                              const Variable& tgt_mask, const Variable& memory_mask,
                                              const Variable& tgt_key_padding_mask,
                                              const Variable& memory_key_padding_mask, bool tgt_is_causal,
                                              bool memory_is_causal) {
  return at_path(*this, [&] {
    const bool weights = makes_weights(*this, options, tgt);
    const auto attend = [&](const Variable& x) {
      return dropout1(
          std::get<0>(self_attn(x, x, x, tgt_key_padding_mask, weights, tgt_mask, true, tgt_is_causal)));
    };
    const auto look_up = [&](const Variable& x) {
      return dropout2(std::get<0>(multihead_attn(x, memory, memory, memory_key_padding_mask, weights,
                                                 memory_mask, true, memory_is_causal)));
    };
    const auto feed = [&](const Variable& x) {
      return dropout3(linear2(dropout(options.activation()(linear1(x)))));
    };
    Variable x = step(tgt, norm1, options.norm_first(), attend);
    x = step(x, norm2, options.norm_first(), look_up);
    return step(x, norm3, options.norm_first(), feed);
  });
}

template class Cloneable<TransformerDecoderLayerImpl>;

}  // namespace ebb::nn
