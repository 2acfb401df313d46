// The arguments of a call of attention for its CUDA kernels.
#pragma once

#include "kernel/convert.h"
#include "ops/attention/geometry.h"

#include <cuda_runtime.h>

#include <cmath>

namespace ebb::cuda::attention {

using ebb::attention::Mask;
using ebb::attention::MaskKind;
using ebb::attention::Rows;
using ebb::attention::Sizes;
using ebb::attention::Weights;

template <class T>
struct Call {
  using C = Compute<T>;
  Sizes sizes;
  Rows<const T> query, key, value;
  Mask mask;
  Weights weights;
  bool drops, causal;
  C scale;

  explicit Call(const ops::AttentionSaved& call)
      : sizes(call),
        query(call.query),
        key(call.key),
        value(call.value),
        mask(call.rule.mask),
        weights(call.rule.dropout.value_or(random::Dropout(Philox{}, 1, 1)), sizes.keys),
        drops(call.rule.dropout),
        causal(call.rule.causal),
        scale(static_cast<C>(call.rule.scale)) {}

  /// Returns the score, scaled and masked, of the query `at` and the key `key_at`. `product` is their inner
  /// product. Both indices may be out of range; the score is then -infinity.
  __device__ C score(C product, std::int64_t n, std::int64_t head, std::int64_t at,
                     std::int64_t key_at) const {
    constexpr C none = -std::numeric_limits<C>::infinity();
    if (at >= sizes.queries || key_at >= sizes.keys || (causal && key_at > at)) return none;
    const C score = product * scale;
    if (mask.kind == MaskKind::none) return score;
    const std::int64_t place = mask.row(n, head, at) + key_at * mask.steps[3];
    if (mask.kind == MaskKind::allowed) return static_cast<const bool*>(mask.data)[place] ? score : none;
    if (mask.kind == MaskKind::added_floats)
      return score + static_cast<C>(static_cast<const float*>(mask.data)[place]);
    return score + static_cast<C>(static_cast<const T*>(mask.data)[place]);
  }
  /// Returns the index of a query among all rows (N, H, L).
  __device__ std::int64_t row(std::int64_t n, std::int64_t head, std::int64_t at) const {
    return (n * sizes.heads + head) * sizes.queries + at;
  }
  /// Returns the factor by which dropout multiplies a weight.
  __device__ C factor(std::int64_t row, std::int64_t key_at) const {
    return drops ? weights.template factor<C>(row, key_at) : C(1);
  }
  /// Returns the end of the keys that the queries before `end` can see.
  __device__ std::int64_t end_of_keys(std::int64_t end) const {
    return causal && end < sizes.keys ? end : sizes.keys;
  }
};

/// The block's part of the result: a tile of rows of one head, and the first column. If `last_first`, the
/// tiles are processed in reverse order, because with a causal mask the last tiles have the most keys.
struct Job {
  std::int64_t batch, head, tile, column;

  __device__ Job(std::int64_t heads, std::int64_t tiles, std::int64_t chunks, int chunk, bool last_first) {
    std::int64_t at = blockIdx.x;
    column = at % chunks * chunk;
    at /= chunks;
    tile = last_first ? tiles - 1 - at % tiles : at % tiles;
    at /= tiles;
    head = at % heads;
    batch = at / heads;
  }
};

/// The gradients to compute; the others are null.
template <class T>
struct Grads {
  T *query, *key, *value;
  explicit Grads(const ops::AttentionGrads& out)
      : query(out.query.defined() ? out.query.address_as<T>() : nullptr),
        key(out.key.defined() ? out.key.address_as<T>() : nullptr),
        value(out.value.defined() ? out.value.address_as<T>() : nullptr) {}
};

/// The other inputs of the backward kernels: the gradient of the result, and for each row log_sum and delta,
/// the sum of grad * result.
template <class T>
struct BackwardInputs {
  Rows<const T> grad;
  const Compute<T>*log_sum, *delta;
};

template <class T>
BackwardInputs<T> backward_inputs(const NdArray& grad, const ops::AttentionSaved& call,
                                  const NdArray& delta) {
  using C = Compute<T>;
  return {Rows<const T>(grad), call.log_sum.template address_as<C>(), delta.template address_as<C>()};
}

}  // namespace ebb::cuda::attention
