// The gradient of the queries on tensor cores. A warp computes 16 queries and iterates over keys and values.
#include "kernel/cuda/launch.h"
#include "ops/attention/cuda_backward.h"
#include "ops/attention/cuda_tensor.h"
#include "ops/attention/cuda_tensor_calls.h"

namespace ebb::cuda::attending {
namespace {

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

}  // namespace

bool tensor_query_backward(NdArray& out, const NdArray& grad, const NdArray& delta,
                           const ops::AttentionSaved& call) {
  return for_tensor_cores(call, [&]<class T> {
    with_head(std::max(call.query.sizes()[3], call.value.sizes()[3]),
              [&]<int kHead> { run<T, kHead>(out, grad, delta, call); });
  });
}

}  // namespace ebb::cuda::attending
