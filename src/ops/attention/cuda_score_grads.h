// Recomputes the weights of a tile, and the gradients of its scores, from the log-sums of the rows.
#pragma once

#include "ops/attention/cuda_tile.h"

namespace ebb::cuda::attending {

/// Computes `weights` = e^(score - log_sum) with dropout, and `score_grads` = weight (factor (grad value^T) -
/// delta).
template <class T>
__device__ void weights_and_score_grads(Part<Compute<T>>& weights, Part<Compute<T>>& score_grads,
                                        const Call<T>& call, const BackwardInputs<T>& inputs, std::int64_t n,
                                        std::int64_t head, std::int64_t first, std::int64_t key,
                                        Compute<T>* shared) {
  using C = Compute<T>;
  const Sizes& s = call.sizes;
  const std::int64_t key_head = head / s.shared;
  multiply(weights, side_of(call.query, n, head, first, s.queries, s.width),
           side_of(call.key, n, key_head, key, s.keys, s.width), shared);
  multiply(score_grads, side_of(inputs.grad, n, head, first, s.queries, s.value_width),
           side_of(call.value, n, key_head, key, s.keys, s.value_width), shared);
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const std::int64_t at = first + row_of(i), row = call.row(n, head, at);
    const bool inside = at < s.queries;
    const C log_sum = inside ? inputs.log_sum[row] : C(0), delta = inside ? inputs.delta[row] : C(0);
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const std::int64_t key_at = key + column_of(j);
      const C weight = std::exp(call.score(weights.at[i][j], n, head, at, key_at) - log_sum);
      const C factor = call.factor(row, key_at);
      score_grads.at[i][j] = weight * (factor * score_grads.at[i][j] - delta);
      weights.at[i][j] = weight * factor;
    }
  }
}

}  // namespace ebb::cuda::attending
