// The gradients of attention on tensor cores. One kernel computes the gradient of the queries, another kernel
// the gradients of the keys and values.
#include "kernel/cuda/launch.h"
#include "ops/attention/cuda_call.h"
#include "ops/attention/cuda_paths.h"
#include "ops/attention/cuda_tensor.h"

namespace ebb::cuda::attention {
namespace {

/// Computes the gradient of the queries. Each warp computes 16 queries and iterates over keys and values.
template <class T, int kHead>
__global__ void __launch_bounds__(kTensorThreads)
    tensor_query_kernel(const __grid_constant__ Call<T> call,
                        const __grid_constant__ BackwardInputs<T> inputs, ByVectors vectors, T* out) {
  constexpr int kPitch = Layout<kHead>::kPitch, kStream = Layout<kHead>::kStream;
  T *const query = dynamic_shared<T>(), *const grad = query + kOwn * kPitch,
           *const key = grad + kOwn * kPitch, *const value = key + kStream * kPitch;
  const Sizes& s = call.sizes;
  const Job job(s.heads, ceil_div(s.queries, kOwn), 1, kHead, call.causal);
  const std::int64_t key_head = job.head / s.shared, block = job.tile * kOwn;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const std::int64_t first = block + warp * kWarpRows, row = call.row(job.batch, job.head, first);
  load_lines<kHead, kOwn>(
      query, lines_of(call.query, job.batch, job.head, block, s.queries, s.width, vectors.query));
  load_lines<kHead, kOwn>(
      grad, lines_of(inputs.grad, job.batch, job.head, block, s.queries, s.value_width, vectors.grad));
  float log_sum[2] = {}, delta[2] = {};
#pragma unroll
  for (int i = 0; i < 2; ++i)
    if (first + mma_row(2 * i) < s.queries) {
      log_sum[i] = inputs.log_sum[row + mma_row(2 * i)];
      delta[i] = inputs.delta[row + mma_row(2 * i)];
    }
  MmaSum sums[kHead / 8], scores[kStream / 8], score_grads[kStream / 8];
  clear(sums);
  const std::int64_t end = call.end_of_keys(block + kOwn);
  for (std::int64_t at = 0; at < end; at += kStream) {
    __syncthreads();  // all threads have read the last tile
    load_lines<kHead, kStream>(key,
                               lines_of(call.key, job.batch, key_head, at, s.keys, s.width, vectors.key));
    load_lines<kHead, kStream>(
        value, lines_of(call.value, job.batch, key_head, at, s.keys, s.value_width, vectors.value));
    __syncthreads();
    multiply<kHead>(scores, query + warp * kWarpRows * kPitch, key);
    multiply<kHead>(score_grads, grad + warp * kWarpRows * kPitch, value);
#pragma unroll
    for (int j = 0; j < kStream / 8; ++j) {
      if (call.drops) {
        drop_pair(score_grads[j][0], score_grads[j][1], call, row + mma_row(0), at + j * 8 + mma_column(0));
        drop_pair(score_grads[j][2], score_grads[j][3], call, row + mma_row(2), at + j * 8 + mma_column(0));
      }
#pragma unroll
      for (int r = 0; r < 4; ++r) {
        const float score =
            call.score(scores[j][r], job.batch, job.head, first + mma_row(r), at + j * 8 + mma_column(r));
        score_grads[j][r] = LogSum<T>::exp(score - log_sum[r / 2]) * (score_grads[j][r] - delta[r / 2]);
      }
    }
    add_product<kHead, kHead>(sums, score_grads, key);
  }
  write_sums(out + row * s.width, s.queries - first, s.width, 0, sums, call.scale, call.scale);
}

template <class T, int kHead>
void run(NdArray& out, const NdArray& grad, const NdArray& delta, const ops::AttentionSaved& saved) {
  using L = Layout<kHead>;
  const Call<T> call(saved);
  const std::int64_t blocks = call.sizes.batch * call.sizes.heads * ceil_div(call.sizes.queries, kOwn);
  if (blocks == 0) return;
  ByVectors vectors(saved);
  vectors.grad = by_vectors(grad);
  launch(
      grad.device(),
      {dim3(grid_blocks(blocks)), dim3(kTensorThreads), (2 * kOwn + 2 * L::kStream) * L::kPitch * sizeof(T)},
      &tensor_query_kernel<T, kHead>, call, backward_inputs<T>(grad, saved, delta), vectors,
      out.template address_as<T>());
}

/// Computes the gradients of keys and values. Each warp computes 16 keys and iterates over the queries and
/// the result's gradient. All matrices are transposed, so that the weights and the gradients of the scores
/// are left operands and no fragment must be rearranged.
template <class T, int kHead>
__global__ void __launch_bounds__(kTensorThreads)
    tensor_key_kernel(const __grid_constant__ Call<T> call, const __grid_constant__ BackwardInputs<T> inputs,
                      ByVectors vectors, const __grid_constant__ Grads<T> out) {
  using L = Layout<kHead>;
  constexpr int kPitch = L::kPitch, kStream = L::kStream, kColumns = L::kColumns;
  T *const key = dynamic_shared<T>(), *const value = key + kOwn * kPitch,
           *const query = value + kOwn * kPitch, *const grad = query + kStream * kPitch;
  const Sizes& s = call.sizes;
  const Job job(s.key_heads(), ceil_div(s.keys, kOwn), kHead / kColumns, kColumns, false);
  const int warp = static_cast<int>(threadIdx.x) / kWarp, column = static_cast<int>(job.column);
  const std::int64_t block = job.tile * kOwn, first = block + warp * kWarpRows;
  load_lines<kHead, kOwn>(key, lines_of(call.key, job.batch, job.head, block, s.keys, s.width, vectors.key));
  load_lines<kHead, kOwn>(
      value, lines_of(call.value, job.batch, job.head, block, s.keys, s.value_width, vectors.value));
  MmaSum keys[kColumns / 8], values[kColumns / 8], scores[kStream / 8], score_grads[kStream / 8];
  clear(keys);
  clear(values);
  for (std::int64_t head = job.head * s.shared; head < (job.head + 1) * s.shared; ++head)
    for (std::int64_t at = call.causal ? block : 0; at < s.queries; at += kStream) {
      __syncthreads();  // all threads have read the last tile
      load_lines<kHead, kStream>(
          query, lines_of(call.query, job.batch, head, at, s.queries, s.width, vectors.query));
      load_lines<kHead, kStream>(
          grad, lines_of(inputs.grad, job.batch, head, at, s.queries, s.value_width, vectors.grad));
      __syncthreads();
      multiply<kHead>(scores, key + warp * kWarpRows * kPitch, query);
      multiply<kHead>(score_grads, value + warp * kWarpRows * kPitch, grad);
#pragma unroll
      for (int j = 0; j < kStream / 8; ++j)
#pragma unroll
        for (int r = 0; r < 4; ++r) {
          const std::int64_t query_at = at + j * 8 + mma_column(r), key_at = first + mma_row(r);
          const bool inside = query_at < s.queries;
          const std::int64_t row = call.row(job.batch, head, inside ? query_at : 0);
          const float score = call.score(scores[j][r], job.batch, head, query_at, key_at);
          const float weight = inside ? LogSum<T>::exp(score - inputs.log_sum[row]) : 0.f;
          const float factor = call.factor(row, key_at);
          score_grads[j][r] = weight * (factor * score_grads[j][r] - inputs.delta[row]);
          scores[j][r] = weight * factor;
        }
      add_product<kHead, kColumns>(values, scores, grad + column);
      add_product<kHead, kColumns>(keys, score_grads, query + column);
    }
  const std::int64_t row = (job.batch * s.key_heads() + job.head) * s.keys + first;
  if (out.key)
    write_sums(out.key + row * s.width, s.keys - first, s.width, column, keys, call.scale, call.scale);
  if (out.value)
    write_sums(out.value + row * s.value_width, s.keys - first, s.value_width, column, values, 1.f, 1.f);
}

template <class T, int kHead>
void run(ops::AttentionGrads& out, const NdArray& grad, const NdArray& delta,
         const ops::AttentionSaved& saved) {
  using L = Layout<kHead>;
  const Call<T> call(saved);
  const std::int64_t blocks =
      call.sizes.batch * call.sizes.key_heads() * ceil_div(call.sizes.keys, kOwn) * (kHead / L::kColumns);
  if (blocks == 0) return;
  ByVectors vectors(saved);
  vectors.grad = by_vectors(grad);
  launch(
      grad.device(),
      {dim3(grid_blocks(blocks)), dim3(kTensorThreads), (2 * kOwn + 2 * L::kStream) * L::kPitch * sizeof(T)},
      &tensor_key_kernel<T, kHead>, call, backward_inputs<T>(grad, saved, delta), vectors, Grads<T>(out));
}

}  // namespace

bool tensor_query_backward(NdArray& out, const NdArray& grad, const NdArray& delta,
                           const ops::AttentionSaved& call) {
  return for_tensor_cores(call, [&]<class T> {
    with_head(std::max(call.query.sizes()[3], call.value.sizes()[3]),
              [&]<int kHead> { run<T, kHead>(out, grad, delta, call); });
  });
}

bool tensor_key_backward(ops::AttentionGrads& out, const NdArray& grad, const NdArray& delta,
                         const ops::AttentionSaved& call) {
  return for_tensor_cores(call, [&]<class T> {
    with_head(std::max(call.query.sizes()[3], call.value.sizes()[3]),
              [&]<int kHead> { run<T, kHead>(out, grad, delta, call); });
  });
}

}  // namespace ebb::cuda::attention
