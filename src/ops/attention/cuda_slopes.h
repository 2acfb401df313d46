// Weights and slopes of a tile of scores, computed once more from the rows' sums.
#pragma once

#include "ops/attention/cuda_tile.h"

namespace ebb::cuda::attending {

/// `weights` = e^(score - log_sum), through dropout; `slopes` = weight (factor (grad value^T) - delta).
template <class T>
__device__ void slope_parts(Part<Compute<T>>& weights, Part<Compute<T>>& slopes, const Call<T>& call,
                            const Slope<T>& slope, std::int64_t n, std::int64_t head, std::int64_t first,
                            std::int64_t key, Compute<T>* shared) {
  using C = Compute<T>;
  const Sizes& s = call.sizes;
  const std::int64_t key_head = head / s.shared;
  multiply(weights, side_of(call.query, n, head, first, s.queries, s.width),
           side_of(call.key, n, key_head, key, s.keys, s.width), shared);
  multiply(slopes, side_of(slope.grad, n, head, first, s.queries, s.value_width),
           side_of(call.value, n, key_head, key, s.keys, s.value_width), shared);
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    const std::int64_t at = first + row_of(i), row = call.row(n, head, at);
    const bool inside = at < s.queries;
    const C log_sum = inside ? slope.log_sum[row] : C(0), delta = inside ? slope.delta[row] : C(0);
#pragma unroll
    for (int j = 0; j < kEach; ++j) {
      const std::int64_t key_at = key + column_of(j);
      const C weight = std::exp(call.score(weights.at[i][j], n, head, at, key_at) - log_sum);
      const C factor = call.factor(row, key_at);
      slopes.at[i][j] = weight * (factor * slopes.at[i][j] - delta);
      weights.at[i][j] = weight * factor;
    }
  }
}

}  // namespace ebb::cuda::attending
