// The fused attention of both libraries, and a pre-norm transformer block.
#pragma once

#include "seam.h"

#include <tuple>

namespace bench {

/// Returns the fused attention of `q`, `k` and `v`, [batch, heads, steps, width]. `mask` is undefined, or
/// Bool and broadcast to [batch, heads, steps, steps]: true attends.
inline torch::Tensor attention(const torch::Tensor& q, const torch::Tensor& k, const torch::Tensor& v,
                               bool causal = false, const torch::Tensor& mask = {}) {
  torch::optional<torch::Tensor> given;
  if (mask.defined()) given = mask;
#if defined(EBB_FIDELITY_TORCH) && TORCH_VERSION_MAJOR < 2  // private, and composed of other ops
  return std::get<0>(torch::_scaled_dot_product_attention(q, k, v, given, 0.0, false, causal));
#else
  return torch::scaled_dot_product_attention(q, k, v, given, 0.0, causal);
#endif
}

/// A pre-norm transformer block, causal as in GPT-2 or not causal as in ViT.
struct BlockImpl : torch::nn::Module {
  BlockImpl(int64_t width, int64_t heads_, bool causal_) : heads(heads_), causal(causal_) {
    const torch::nn::LayerNormOptions norm({width});
    first = register_module("first", torch::nn::LayerNorm(norm));
    qkv = register_module("qkv", torch::nn::Linear(width, 3 * width));
    out = register_module("out", torch::nn::Linear(width, width));
    second = register_module("second", torch::nn::LayerNorm(norm));
    wide = register_module("wide", torch::nn::Linear(width, 4 * width));
    narrow = register_module("narrow", torch::nn::Linear(4 * width, width));
  }
  torch::Tensor forward(const torch::Tensor& x) {
    const int64_t batch = x.size(0), steps = x.size(1), width = x.size(2);
    const auto parts = qkv->forward(first->forward(x)).chunk(3, -1);
    const auto split = [&](const torch::Tensor& part) {
      return part.view({batch, steps, heads, width / heads}).transpose(1, 2);
    };
    const torch::Tensor mixed = attention(split(parts[0]), split(parts[1]), split(parts[2]), causal);
    const torch::Tensor y = x + out->forward(mixed.transpose(1, 2).reshape({batch, steps, width}));
    return y + narrow->forward(torch::gelu(wide->forward(second->forward(y))));
  }
  int64_t heads;
  bool causal;
  torch::nn::LayerNorm first{nullptr}, second{nullptr};
  torch::nn::Linear qkv{nullptr}, out{nullptr}, wide{nullptr}, narrow{nullptr};
};
TORCH_MODULE(Block);

/// Returns the operations of the forward pass of a block over `tokens` positions, each of which attends to
/// `steps` others.
inline double transformer_flops(double tokens, double steps, double width) {
  return 2 * tokens * (12 * width * width + 2 * steps * width);
}

}  // namespace bench
