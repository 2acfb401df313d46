// What autocast does to which op: PyTorch's lists (ATen/autocast_mode.h, and autocast_mode.cpp for the CPU).
#pragma once

#include <cstdint>
#include <string_view>

namespace ebb::ops {

enum class CastRule : std::uint8_t {
  none,        // computes in the dtypes that it meets
  lower,       // in the 16-bit dtype
  f32,         // in Float
  f32_result,  // gives Float, of an op with an argument for the dtype, unless that is given
  widest,      // Float if one input is, else the 16-bit dtype
  refused,     // throws: too easily wrong in 16 bits
};

struct CastEntry {
  std::string_view op;
  CastRule cuda, cpu;
};

namespace casts {

using enum CastRule;

// An op that is made of others, and not listed itself, casts as these do.
inline constexpr CastEntry kList[] = {
    // Products.
    {"addbmm", lower, lower},
    {"addmm", lower, lower},
    {"addmv", lower, none},
    {"addr", lower, none},
    {"baddbmm", lower, lower},
    {"bilinear", widest, none},
    {"bmm", lower, lower},
    {"chain_matmul", lower, lower},
    {"cross", widest, none},
    {"dot", widest, none},
    {"einsum", lower, none},  // on the CPU its products are cast, as bmm's
    {"linear", lower, lower},
    {"linear_gelu", lower, lower},
    {"linear_relu", lower, lower},
    {"matmul", lower, lower},
    {"mm", lower, lower},
    {"multi_dot", lower, lower},
    {"mv", lower, none},
    {"tensordot", widest, lower},
    {"trace", none, f32},
    {"vdot", widest, none},
    {"vecdot", lower, lower},
    // Layers.
    {"conv1d", lower, lower},
    {"conv2d", lower, lower},
    {"conv3d", lower, lower},
    {"conv_transpose1d", lower, lower},
    {"conv_transpose2d", lower, lower},
    {"conv_transpose3d", lower, lower},
    {"convolution", lower, lower},
    {"convolution_relu", lower, lower},
    {"prelu", lower, lower},
    {"gated_layers", lower, widest},  // GRU's and LSTM's, and cells, whose states keep their dtype on the CPU
    {"recurrent_layers", lower, lower},  // and cells
    {"scaled_dot_product_attention", lower, lower},
    // Functions of each element.
    {"acos", f32, none},
    {"addcdiv", widest, none},
    {"addcmul", widest, none},
    {"asin", f32, none},
    {"atan2", widest, none},
    {"cosh", f32, none},
    {"erfinv", f32, none},
    {"exp", f32, none},
    {"expm1", f32, none},
    {"log", f32, none},
    {"log10", f32, none},
    {"log1p", f32, none},
    {"log2", f32, none},
    {"pow", f32, none},
    {"reciprocal", f32, none},
    {"rsqrt", f32, none},
    {"sinh", f32, none},
    {"softplus", f32, none},
    {"tan", f32, none},
    // Sums, norms and what is made of them.
    {"add_layer_norm", f32, f32},
    {"add_rms_norm", f32, f32},
    {"cdist", f32, f32},
    {"cosine_similarity", f32, none},
    {"cumprod", f32_result, none},
    {"cumsum", f32_result, none},
    {"dist", f32, none},
    {"frobenius_norm", f32, none},
    {"group_norm", f32, none},
    {"layer_norm", f32, none},
    {"linalg_vector_norm", f32_result, none},
    {"log_softmax", f32_result, none},
    {"logsumexp", f32, none},
    {"nanquantile", none, f32},
    {"norm", f32, none},
    {"prod", f32_result, f32_result},
    {"quantile", none, f32},
    {"renorm", f32, none},
    {"rms_norm", f32, none},
    {"softmax", f32_result, none},
    {"sum", f32_result, none},
    // Losses.
    {"binary_cross_entropy", refused, f32},
    {"binary_cross_entropy_with_logits", f32, f32},
    {"cosine_embedding_loss", f32, f32},
    {"cross_entropy_loss", f32, f32},
    {"ctc_loss", none, f32},
    {"hinge_embedding_loss", f32, f32},
    {"huber_loss", f32, f32},
    {"kl_div", f32, f32},
    {"l1_loss", f32, f32},
    {"margin_ranking_loss", f32, f32},
    {"mse_loss", f32, f32},
    {"multi_margin_loss", f32, f32},
    {"multilabel_margin_loss", f32, f32},
    {"nll_loss", f32, f32},
    {"poisson_nll_loss", f32, f32},
    {"smooth_l1_loss", f32, f32},
    {"soft_margin_loss", f32, f32},
    {"triplet_margin_loss", f32, f32},
    // Decompositions, which know no 16 bits, and what is solved by them: on CUDA PyTorch leaves these as they
    // are, and their products then give 16 bits, or an error.
    {"cholesky", f32, f32},
    {"cholesky_ex", f32, f32},
    {"cholesky_inverse", f32, f32},
    {"cholesky_solve", f32, f32},
    {"cond", f32, f32},
    {"eigh", f32, f32},
    {"eigvalsh", f32, f32},
    {"geqrf", f32, f32},
    {"householder_product", f32, f32},
    {"inv", f32, f32},
    {"inv_ex", f32, f32},
    {"lstsq", f32, f32},
    {"lu_solve", f32, f32},
    {"matrix_rank", f32, f32},
    {"matrix_sqrth", f32, f32},
    {"ormqr", f32, f32},
    {"pinverse", f32, f32},
    {"polar", f32, f32},
    {"qr", f32, f32},
    {"solve", f32, f32},
    {"svd", f32, f32},
    {"svdvals", f32, f32},
    {"tensorinv", f32, f32},
    {"tensorsolve", f32, f32},
    {"triangular_solve", f32, f32},
    // Places.
    {"adaptive_avg_pool3d", none, f32},
    {"adaptive_max_pool3d", none, f32},
    {"avg_pool3d", none, f32},
    {"fractional_max_pool2d", none, f32},
    {"fractional_max_pool3d", none, f32},
    {"grid_sampler", widest, f32},
    {"index_copy", none, widest},
    {"index_put", widest, none},
    {"interpolate", f32, none},
    {"max_pool3d", none, f32},
    {"max_unpool2d", none, f32},
    {"max_unpool3d", none, f32},
    {"pad", none, f32},  // reflecting one or two dimensions, or replicating
    {"scatter_add", widest, none},
};

}  // namespace casts

constexpr const CastEntry* find_cast_entry(std::string_view op) {
  for (const CastEntry& entry : casts::kList)
    if (entry.op == op) return &entry;
  return nullptr;
}

}  // namespace ebb::ops
