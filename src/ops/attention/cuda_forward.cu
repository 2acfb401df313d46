// The forward pass of attention on the device without tensor cores, for any dtype and any head size.
#include <ebb/core/visit.h>

#include "kernel/cuda/launch.h"
#include "kernel/cuda/walk.h"
#include "ops/attention/cuda_paths.h"
#include "ops/attention/cuda_tile.h"
#include "ops/attention/kernels.h"

namespace ebb::cuda {
namespace attention {
namespace {

/// Each block computes 64 columns of the result for 64 queries of a head.
template <class T>
__global__ void __launch_bounds__(kTileThreads, 1)
    forward_kernel(const __grid_constant__ Call<T> call, T* result, Compute<T>* log_sum) {
  using C = Compute<T>;
  constexpr C none = -std::numeric_limits<C>::infinity();
  C *const shared = dynamic_shared<C>(), *const tile = shared + kOperands;
  const Sizes& s = call.sizes;
  const Job job(s.heads, ceil_div(s.queries, kTile), ceil_div(s.value_width, kTile), kTile, call.causal);
  const std::int64_t first = job.tile * kTile, key_head = job.head / s.shared;
  const Side<T> query = side_of(call.query, job.batch, job.head, first, s.queries, s.width);
  C top[kEach], total[kEach];
#pragma unroll
  for (int i = 0; i < kEach; ++i) {
    top[i] = none;
    total[i] = 0;
  }
  Part<C> sum, part;
  sum.clear();
  const std::int64_t end = call.end_of_keys(first + query.rows);
  for (std::int64_t key = 0; key < end; key += kTile) {
    multiply(part, query, side_of(call.key, job.batch, key_head, key, s.keys, s.width), shared);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const std::int64_t at = first + row_of(i);
      C largest = none;
#pragma unroll
      for (int j = 0; j < kEach; ++j) {
        part.at[i][j] = call.score(part.at[i][j], job.batch, job.head, at, key + column_of(j));
        largest = part.at[i][j] > largest ? part.at[i][j] : largest;
      }
      largest = over_row(largest, [](C a, C b) { return a > b ? a : b; });
      const C before = top[i];
      if (largest > before) top[i] = largest;
      const C base = top[i] == none ? C(0) : top[i], factor = std::exp(before - base);
      C added = 0;
#pragma unroll
      for (int j = 0; j < kEach; ++j) {
        const C weight = std::exp(part.at[i][j] - base);
        added += weight;
        part.at[i][j] = weight;
        if (call.drops) part.at[i][j] *= call.factor(call.row(job.batch, job.head, at), key + column_of(j));
        sum.at[i][j] *= factor;
      }
      total[i] = total[i] * factor + over_row(added, Plus());
    }
    store_tile(tile, part);
    add_product<false>(sum, tile, side_of(call.value, job.batch, key_head, key, s.keys, s.value_width),
                       job.column, shared);
  }
  const std::int64_t row = call.row(job.batch, job.head, first);
  write_part(result + row * s.value_width, query.rows, s.value_width, job.column, sum,
             [&](int i) { return total[i] == C(0) ? C(0) : C(1) / total[i]; });
  if (job.column == 0 && column_of(0) == 0)
#pragma unroll
    for (int i = 0; i < kEach; ++i)
      if (row_of(i) < query.rows)
        log_sum[row + row_of(i)] =
            total[i] == C(0) ? std::numeric_limits<C>::infinity() : top[i] + std::log(total[i]);
}

template <class T>
void forward(ops::AttentionSaved& call) {
  using C = Compute<T>;
  const Sizes s(call);
  const std::int64_t chunks = ceil_div(s.value_width, kTile);
  const std::int64_t blocks = s.batch * s.heads * ceil_div(s.queries, kTile) * chunks;
  if (blocks == 0) return;
  launch(call.query.device(),
         {dim3(grid_blocks(blocks)), dim3(kTileThreads), (kOperands + kWhole) * sizeof(C)},
         &forward_kernel<T>, Call<T>(call), call.result.template address_as<T>(),
         call.log_sum.template address_as<C>());
}

template <class C>
struct WriteFactors {
  C* out;
  std::int64_t keys;
  Weights weights;
  __device__ void operator()(std::int64_t i) const { out[i] = weights.factor<C>(i / keys, i % keys); }
};

}  // namespace
}  // namespace attention

void attention_forward(ops::AttentionSaved& call) {
  if (attention::library_forward(call) || attention::tensor_forward(call)) return;
  visit_floating(call.query.dtype(), "scaled_dot_product_attention",
                 [&]<class T> { attention::forward<T>(call); });
}

void attention_dropout(NdArray& out, const random::Dropout& rule) {
  const std::int64_t keys = out.sizes()[3];
  visit_float_double(out.dtype(), "scaled_dot_product_attention", [&]<class C> {
    for_each(out.device(), out.numel(),
             attention::WriteFactors<C>{out.address_as<C>(), keys, attention::Weights(rule, keys)});
  });
}

}  // namespace ebb::cuda
