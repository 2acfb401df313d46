// The autocast lists: the cast rule of each op, as in PyTorch (ATen/autocast_mode.h, and autocast_mode.cpp
// for the CPU).
#pragma once

#include <cstdint>
#include <string_view>

namespace ebb::ops {

enum class CastRule : std::uint8_t {
  none,        // computes in the dtypes of its inputs
  lower,       // computes in the 16-bit dtype
  f32,         // computes in Float
  f32_result,  // for ops with a dtype argument, whose default becomes Float
  widest,      // computes in Float if any input is Float, otherwise in the 16-bit dtype
  refused,     // throws, because 16-bit results would often be wrong
};

struct CastEntry {
  std::string_view op;
  CastRule cuda, cpu;
};

namespace casts {

using enum CastRule;

// A composed op that is not listed uses the casts of the ops that it calls.
inline constexpr CastEntry kList[] = {
    // Matrix products.
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
    {"einsum", lower, none},  // on the CPU the products that it calls are cast as bmm
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
    {"gated_layers", lower, widest},  // GRU, LSTM and their cells, whose states keep their dtype on the CPU
    {"recurrent_layers", lower, lower},  // also the cells
    {"scaled_dot_product_attention", lower, lower},
    // Elementwise functions.
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
    // Reductions, norms, and ops composed of them.
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
    // Decompositions, which have no 16-bit kernels, and solvers that use them. On CUDA PyTorch does not list
    // these; their matrix products then give 16-bit results, or an error.
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
    // Pooling, resampling, padding and indexing.
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
    {"pad", none, f32},  // for reflection of one or two dimensions, and for replication
    {"scatter_add", widest, none},
};

}  // namespace casts

constexpr const CastEntry* find_cast_entry(std::string_view op) {
  for (const CastEntry& entry : casts::kList)
    if (entry.op == op) return &entry;
  return nullptr;
}

}  // namespace ebb::ops
