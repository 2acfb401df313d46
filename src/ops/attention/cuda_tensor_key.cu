// The gradients of keys and values on tensor cores. A warp computes 16 keys and iterates over queries and
// gradients. All matrices are transposed, so that weights and gradients of scores are left operands without a
// rearrangement.
#include "kernel/cuda/launch.h"
#include "ops/attention/cuda_backward.h"
#include "ops/attention/cuda_tensor.h"
#include "ops/attention/cuda_tensor_calls.h"

namespace ebb::cuda::attending {
namespace {

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

bool tensor_key_backward(ops::AttentionGrads& out, const NdArray& grad, const NdArray& delta,
                         const ops::AttentionSaved& call) {
  return for_tensor_cores(call, [&]<class T> {
    with_head(std::max(call.query.sizes()[3], call.value.sizes()[3]),
              [&]<int kHead> { run<T, kHead>(out, grad, delta, call); });
  });
}

}  // namespace ebb::cuda::attending
