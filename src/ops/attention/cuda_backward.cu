// The gradients of attention on the device without tensor cores. They are computed in two passes without
// atomics. In the first pass each block processes one tile of queries, in the second pass one tile of keys
// and values. Each pass recomputes the scores.
// The gradient of an additive mask is the sum of the scores' gradients over the dimensions along which the
// mask was broadcast. Each block computes one tile of this gradient.
#include <ebb/core/visit.h>

#include "kernel/cuda/block_reduce.h"
#include "kernel/cuda/launch.h"
#include "ops/attention/cuda_paths.h"
#include "ops/attention/cuda_tile.h"
#include "ops/attention/kernels.h"

namespace ebb::cuda {
namespace attention {
namespace {

constexpr int kRowsEach = 4;  // the rows of a block, one for each warp

template <class T>
__global__ void __launch_bounds__(kWarp* kRowsEach)
    delta_kernel(Compute<T>* delta, const T* grad, const T* result, std::int64_t rows, std::int64_t width) {
  using C = Compute<T>;
  const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * kRowsEach + threadIdx.y;
  C sum = 0;
  if (row < rows)
    for (std::int64_t e = threadIdx.x; e < width; e += kWarp)
      sum += static_cast<C>(grad[row * width + e]) * static_cast<C>(result[row * width + e]);
  sum = warp_reduce(sum, Plus());
  if (row < rows && threadIdx.x == 0) delta[row] = sum;
}

/// Returns delta, one value for each of the N H L rows: the sum of grad * result over the row.
NdArray delta_of(const NdArray& grad, const ops::AttentionSaved& call) {
  const std::int64_t width = call.result.sizes()[3], rows = call.log_sum.numel();
  NdArray delta = NdArray::empty({rows}, call.log_sum.dtype(), grad.device());
  if (rows == 0) return delta;
  visit_floating(grad.dtype(), "scaled_dot_product_attention", [&]<class T> {
    launch(grad.device(), {dim3(grid_blocks(ceil_div(rows, kRowsEach))), dim3(kWarp, kRowsEach)},
           &delta_kernel<T>, delta.address_as<Compute<T>>(), grad.address_as<T>(),
           call.result.address_as<T>(), rows, width);
  });
  return delta;
}

/// Let p = e^(score - log_sum), and let `factor` be the factor of dropout. Computes `weights` = p factor and
/// `score_grads` = p (factor (grad value^T) - delta).
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

/// Each block computes 64 columns of the gradients of 64 queries of a head.
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

/// One dimension of the scores. If the mask has a size > 1 in this dimension (`kept`), the dimension is
/// divided into tiles; otherwise each block iterates over the whole dimension.
struct Range {
  std::int64_t size, tile;
  bool kept;

  EBB_HD std::int64_t parts() const { return kept ? ceil_div(size, tile) : 1; }
  EBB_HD std::int64_t begin(std::int64_t part) const { return kept ? part * tile : 0; }
  EBB_HD std::int64_t end(std::int64_t part) const {
    return !kept || (part + 1) * tile > size ? size : (part + 1) * tile;
  }
};
struct Ranges {
  Range batches, heads, queries, keys;
};

template <class T>
__global__ void __launch_bounds__(kTileThreads, 1)
    mask_kernel(const __grid_constant__ Call<T> call, const __grid_constant__ BackwardInputs<T> inputs,
                const __grid_constant__ Ranges ranges, void* out, bool floats) {
  using C = Compute<T>;
  C *const shared = dynamic_shared<C>(), *const tile = shared + kOperands;
  std::int64_t at = blockIdx.x;
  const std::int64_t k = at % ranges.keys.parts();
  at /= ranges.keys.parts();
  const std::int64_t q = at % ranges.queries.parts();
  at /= ranges.queries.parts();
  const std::int64_t h = at % ranges.heads.parts(), n = at / ranges.heads.parts();
  Part<C> sum, weights, score_grads;
  sum.clear();
  for (std::int64_t batch = ranges.batches.begin(n); batch < ranges.batches.end(n); ++batch)
    for (std::int64_t head = ranges.heads.begin(h); head < ranges.heads.end(h); ++head)
      for (std::int64_t first = ranges.queries.begin(q); first < ranges.queries.end(q); first += kTile)
        for (std::int64_t key = ranges.keys.begin(k); key < ranges.keys.end(k); key += kTile) {
          weights_and_score_grads(weights, score_grads, call, inputs, batch, head, first, key, shared);
#pragma unroll
          for (int i = 0; i < kEach; ++i)
#pragma unroll
            for (int j = 0; j < kEach; ++j) sum.at[i][j] += score_grads.at[i][j];
        }
  store_tile(tile, sum);
  __syncthreads();
  const std::int64_t rows = ranges.queries.kept ? ranges.queries.end(q) - q * kTile : 1,
                     columns = ranges.keys.kept ? ranges.keys.end(k) - k * kTile : 1;
  const std::int64_t width = ranges.keys.kept ? ranges.keys.size : 1,
                     height = ranges.queries.kept ? ranges.queries.size : 1;
  const std::int64_t start =
      ((n * ranges.heads.parts() + h) * height + q * kTile) * width + (ranges.keys.kept ? k * kTile : 0);
  for (std::int64_t i = threadIdx.x; i < rows * columns; i += kTileThreads) {
    const int r = static_cast<int>(i / columns), c = static_cast<int>(i % columns);
    C value = 0;
    for (int y = ranges.queries.kept ? r : 0; y < (ranges.queries.kept ? r + 1 : kTile); ++y)
      for (int x = ranges.keys.kept ? c : 0; x < (ranges.keys.kept ? c + 1 : kTile); ++x)
        value += tile[y * kPitch + x];
    const std::int64_t place = start + r * width + c;
    if (floats)
      static_cast<float*>(out)[place] = static_cast<float>(value);
    else
      static_cast<T*>(out)[place] = static_cast<T>(value);
  }
}

template <class T>
void mask_backward(NdArray& out, const NdArray& grad, const ops::AttentionSaved& saved) {
  const Call<T> call(saved);
  const Sizes& s = call.sizes;
  const NdArray delta = delta_of(grad, saved);
  const IntArrayRef sizes = out.sizes();
  const Ranges ranges{{s.batch, 1, sizes[0] > 1},
                      {s.heads, 1, sizes[1] > 1},
                      {s.queries, kTile, sizes[2] > 1},
                      {s.keys, kTile, sizes[3] > 1}};
  const std::int64_t blocks =
      ranges.batches.parts() * ranges.heads.parts() * ranges.queries.parts() * ranges.keys.parts();
  launch(grad.device(),
         {dim3(grid_blocks(blocks)), dim3(kTileThreads), (kOperands + kWhole) * sizeof(Compute<T>)},
         &mask_kernel<T>, call, backward_inputs<T>(grad, saved, delta), ranges, out.address(),
         out.dtype() == kFloat);
}

}  // namespace
}  // namespace attention

void attention_backward(ops::AttentionGrads& out, const NdArray& grad, const ops::AttentionSaved& call) {
  if (attention::library_backward(out, grad, call)) return;
  visit_floating(call.query.dtype(), "scaled_dot_product_attention",
                 [&]<class T> { attention::backward<T>(out, grad, call); });
}

void attention_mask_backward(NdArray& out, const NdArray& grad, const ops::AttentionSaved& call) {
  if (out.numel() == 0) return;
  visit_floating(call.query.dtype(), "scaled_dot_product_attention",
                 [&]<class T> { attention::mask_backward<T>(out, grad, call); });
}

}  // namespace ebb::cuda
