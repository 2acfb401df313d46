// The gradients of attention on the device without tensor cores, in two passes without atomics: one block for
// each tile of queries, then one for each tile of keys and values. Each pass recomputes the scores.
#include <ebb/core/visit.h>

#include "kernel/cuda/launch.h"
#include "ops/attention/cuda_backward.h"
#include "ops/attention/cuda_library.h"
#include "ops/attention/cuda_score_grads.h"
#include "ops/attention/cuda_tensor_calls.h"
#include "ops/attention/kernels.h"

namespace ebb::cuda {
namespace attending {
namespace {

/// Each block computes 64 columns of the gradient of 64 queries of a head.
template <class T>
__global__ void __launch_bounds__(kTileThreads, 1)
    query_kernel(const __grid_constant__ Call<T> call, const __grid_constant__ BackwardInputs<T> inputs,
                 T* out) {
  using C = Compute<T>;
  C *const shared = dynamic_shared<C>(), *const tile = shared + kOperands;
  const Sizes& s = call.sizes;
  const Job job(s.heads, ceil_div(s.queries, kTile), ceil_div(s.width, kTile), kTile, call.causal);
  const std::int64_t first = job.tile * kTile;
  const std::int64_t rows = s.queries - first < kTile ? s.queries - first : kTile;
  Part<C> sum, weights, score_grads;
  sum.clear();
  const std::int64_t end = call.end_of_keys(first + rows);
  for (std::int64_t key = 0; key < end; key += kTile) {
    weights_and_score_grads(weights, score_grads, call, inputs, job.batch, job.head, first, key, shared);
    store_tile(tile, score_grads);
    add_product<false>(sum, tile, side_of(call.key, job.batch, job.head / s.shared, key, s.keys, s.width),
                       job.column, shared);
  }
  write_part(out + call.row(job.batch, job.head, first) * s.width, rows, s.width, job.column, sum,
             [&](int) { return call.scale; });
}

/// Each block computes 64 columns of the gradients of 64 keys and values of a head.
template <class T>
__global__ void __launch_bounds__(kTileThreads, 1)
    key_kernel(const __grid_constant__ Call<T> call, const __grid_constant__ BackwardInputs<T> inputs,
               const __grid_constant__ Grads<T> out, std::int64_t chunks) {
  using C = Compute<T>;
  C *const shared = dynamic_shared<C>(), *const tile = shared + kOperands;
  const Sizes& s = call.sizes;
  const Job job(s.key_heads(), ceil_div(s.keys, kTile), chunks, kTile, false);
  const std::int64_t key = job.tile * kTile, rows = s.keys - key < kTile ? s.keys - key : kTile;
  const bool for_key = out.key && job.column < s.width, for_value = out.value && job.column < s.value_width;
  Part<C> keys, values, weights, score_grads;
  keys.clear();
  values.clear();
  for (std::int64_t head = job.head * s.shared; head < (job.head + 1) * s.shared; ++head)
    for (std::int64_t first = call.causal ? key : 0; first < s.queries; first += kTile) {
      weights_and_score_grads(weights, score_grads, call, inputs, job.batch, head, first, key, shared);
      if (for_value) {
        store_tile(tile, weights);
        add_product<true>(values, tile,
                          side_of(inputs.grad, job.batch, head, first, s.queries, s.value_width), job.column,
                          shared);
      }
      if (for_key) {
        store_tile(tile, score_grads);
        add_product<true>(keys, tile, side_of(call.query, job.batch, head, first, s.queries, s.width),
                          job.column, shared);
      }
    }
  const std::int64_t row = (job.batch * s.key_heads() + job.head) * s.keys + key;
  if (for_key)
    write_part(out.key + row * s.width, rows, s.width, job.column, keys, [&](int) { return call.scale; });
  if (for_value)
    write_part(out.value + row * s.value_width, rows, s.value_width, job.column, values,
               [](int) { return C(1); });
}

template <class T>
void backward(ops::AttentionGrads& out, const NdArray& grad, const ops::AttentionSaved& saved) {
  const Call<T> call(saved);
  const Sizes& s = call.sizes;
  const NdArray delta = delta_of(grad, saved);
  const BackwardInputs<T> inputs = backward_inputs<T>(grad, saved, delta);
  const Grads<T> grads(out);
  const std::size_t shared = (kOperands + kWhole) * sizeof(Compute<T>);
  const auto grid = [&](std::int64_t blocks) {
    return Grid{dim3(grid_blocks(blocks)), dim3(kTileThreads), shared};
  };
  const std::int64_t queries = s.batch * s.heads * ceil_div(s.queries, kTile) * ceil_div(s.width, kTile);
  if (grads.query && queries > 0 && !tensor_query_backward(out.query, grad, delta, saved))
    launch(grad.device(), grid(queries), &query_kernel<T>, call, inputs, grads.query);
  const std::int64_t chunks = ceil_div(s.width > s.value_width ? s.width : s.value_width, kTile);
  const std::int64_t keys = s.batch * s.key_heads() * ceil_div(s.keys, kTile) * chunks;
  if ((grads.key || grads.value) && keys > 0 && !tensor_key_backward(out, grad, delta, saved))
    launch(grad.device(), grid(keys), &key_kernel<T>, call, inputs, grads, chunks);
}

}  // namespace
}  // namespace attending

void attention_backward(ops::AttentionGrads& out, const NdArray& grad, const ops::AttentionSaved& call) {
  if (attending::library_backward(out, grad, call)) return;
  visit_floating(call.query.dtype(), "scaled_dot_product_attention",
                 [&]<class T> { attending::backward<T>(out, grad, call); });
}

}  // namespace ebb::cuda
