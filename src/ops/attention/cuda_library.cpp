// Attention by cuDNN, for 16-bit dtypes without a mask and without dropout. Dropout is excluded because
// cuDNN's random numbers differ from ebb's.
#include <ebb/cuda/cuda.h>

#include "kernel/cuda/dnn.h"
#include "ops/attention/cuda_paths.h"
#include "ops/common/cuda_aligned.h"

#include <cstdint>

namespace ebb::cuda::attention {
namespace {

constexpr std::int64_t kMostWide = 256, kVector = 8;  // the largest head size; elements in 16 bytes

// Returns whether each row starts at a multiple of 16 bytes. It is false for an expanded dimension, because
// cuDNN does not accept stride 0.
bool by_vectors(const NdArray& x) {
  if (reinterpret_cast<std::uintptr_t>(x.address()) % (kVector * 2) != 0 || x.sizes()[3] % kVector != 0)
    return false;
  for (std::size_t d = 0; d < 3; ++d)
    if (x.sizes()[d] > 1 && (x.strides()[d] < x.sizes()[3] || x.strides()[d] % kVector != 0)) return false;
  return true;
}

// Returns whether cuDNN can compute the call. Calls with a mask use ebb's kernels: in ebb a row without
// visible keys is zero, which cuDNN does not guarantee. Calls with scale <= 0 use ebb's kernels too, because
// for them the largest product does not give the largest score.
bool is_for_library(const ops::AttentionSaved& c) {
  if (!dnn_is_used() || (c.query.dtype() != kHalf && c.query.dtype() != kBFloat16)) return false;
  if (c.rule.mask.defined() || c.rule.dropout || !(c.rule.scale > 0)) return false;
  if (c.query.numel() == 0 || c.key.numel() == 0 || c.value.numel() == 0) return false;
  if (c.query.sizes()[3] > kMostWide || c.value.sizes()[3] > kMostWide) return false;
  return by_vectors(c.query) && by_vectors(c.key) && by_vectors(c.value);
}

DnnAttention problem_of(const ops::AttentionSaved& c) {
  return {.query = c.query,
          .key = c.key,
          .value = c.value,
          .result = c.result,
          .log_sum = c.log_sum,
          .scale = static_cast<float>(c.rule.scale),
          .causal = c.rule.causal};
}

}  // namespace

bool library_forward(ops::AttentionSaved& call) {
  return is_for_library(call) && dnn_attention(problem_of(call));
}

bool library_backward(ops::AttentionGrads& out, const NdArray& grad, const ops::AttentionSaved& call) {
  // Deterministic mode does not use cuDNN, because this engine of cuDNN accumulates the gradient of the
  // queries with atomics, although cuDNN does not mark the engine as nondeterministic.
  if (is_cudnn_deterministic() || !is_for_library(call)) return false;
  // The backward pass of cuDNN does not accept a single query with a single key.
  if (call.query.sizes()[2] == 1 && call.key.sizes()[2] == 1) return false;
  const auto made = [](const NdArray& wanted, const NdArray& like) {
    return wanted.defined() ? wanted : NdArray::empty(like.sizes(), like.dtype(), like.device());
  };
  NdArray query_sum = NdArray::empty(call.query.sizes(), kFloat, grad.device());
  kernels::fill(grad.device(), query_sum, 0);
  const DnnAttention forward = problem_of(call);
  return dnn_attention_backward({.forward = forward,
                                 .grad = aligned(grad),  // a contiguous view may begin at any address
                                 .dquery = made(out.query, call.query),
                                 .dkey = made(out.key, call.key),
                                 .dvalue = made(out.value, call.value),
                                 .query_sum = query_sum,
                                 .delta = NdArray::empty(call.log_sum.sizes(), kFloat, grad.device())});
}

}  // namespace ebb::cuda::attention
