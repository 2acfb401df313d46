// The forward pass of attention on tensor cores (after Dao 2023, FlashAttention-2). A warp computes 16
// queries and keeps their softmax in registers.
#include "kernel/cuda/launch.h"
#include "ops/attention/cuda_paths.h"
#include "ops/attention/cuda_tensor.h"

namespace ebb::cuda::attention {
namespace {

/// Reduces (maximum or sum) over the four lanes that share a row.
template <class Merge>
__device__ float over_lanes(float value, const Merge& merge) {
  value = merge(value, __shfl_xor_sync(kFullWarp, value, 1));
  return merge(value, __shfl_xor_sync(kFullWarp, value, 2));
}

/// The running softmax of one row.
struct Running {
  float top = -INFINITY, total = 0;

  /// Converts the scores of one row to weights. A lane has the elements `from` and from + 1 of each MmaSum.
  /// Returns the factor by which the sums of earlier keys must be multiplied.
  template <class T, int N>
  __device__ float take(MmaSum (&scores)[N], int from) {
    float largest = -INFINITY;
#pragma unroll
    for (int j = 0; j < N; ++j) largest = fmaxf(largest, fmaxf(scores[j][from], scores[j][from + 1]));
    largest = over_lanes(largest, [](float a, float b) { return fmaxf(a, b); });
    const float before = top;
    top = fmaxf(top, largest);
    const float base = top == -INFINITY ? 0.f : top, factor = LogSum<T>::exp(before - base);
    float sum = 0;
#pragma unroll
    for (int j = 0; j < N; ++j)
#pragma unroll
      for (int r = from; r < from + 2; ++r) {
        scores[j][r] = LogSum<T>::exp(scores[j][r] - base);
        sum += scores[j][r];
      }
    total = total * factor + over_lanes(sum, Plus());
    return factor;
  }
  __device__ float inverse() const { return total == 0 ? 0.f : 1 / total; }
  __device__ float log_sum() const { return total == 0 ? INFINITY : top + std::log(total); }
};

template <class T, int kHead>
__global__ void __launch_bounds__(kTensorThreads)
    tensor_forward_kernel(const __grid_constant__ Call<T> call, ByVectors vectors, T* result,
                          float* log_sum) {
  constexpr int kPitch = Layout<kHead>::kPitch, kStream = Layout<kHead>::kStream;
  T *const query = dynamic_shared<T>(), *const key = query + kOwn * kPitch,
           *const value = key + kStream * kPitch;
  const Sizes& s = call.sizes;
  const Job job(s.heads, ceil_div(s.queries, kOwn), 1, kHead, call.causal);
  const std::int64_t key_head = job.head / s.shared, block = job.tile * kOwn;
  const int warp = static_cast<int>(threadIdx.x) / kWarp;
  const std::int64_t first = block + warp * kWarpRows;
  load_lines<kHead, kOwn>(
      query, lines_of(call.query, job.batch, job.head, block, s.queries, s.width, vectors.query));
  MmaSum sums[kHead / 8], scores[kStream / 8];
  clear(sums);
  Running near, far;
  const std::int64_t end = call.end_of_keys(block + kOwn);
  for (std::int64_t at = 0; at < end; at += kStream) {
    __syncthreads();  // all threads have read the last tile
    load_lines<kHead, kStream>(key,
                               lines_of(call.key, job.batch, key_head, at, s.keys, s.width, vectors.key));
    load_lines<kHead, kStream>(
        value, lines_of(call.value, job.batch, key_head, at, s.keys, s.value_width, vectors.value));
    __syncthreads();
    multiply<kHead>(scores, query + warp * kWarpRows * kPitch, key);
#pragma unroll
    for (int j = 0; j < kStream / 8; ++j)
#pragma unroll
      for (int r = 0; r < 4; ++r)
        scores[j][r] =
            call.score(scores[j][r], job.batch, job.head, first + mma_row(r), at + j * 8 + mma_column(r));
    const float factor = near.take<T>(scores, 0), other = far.take<T>(scores, 2);
#pragma unroll
    for (auto& sum : sums) {
      sum[0] *= factor;
      sum[1] *= factor;
      sum[2] *= other;
      sum[3] *= other;
    }
    if (call.drops) {
      const std::int64_t row = call.row(job.batch, job.head, first + mma_row(0));
#pragma unroll
      for (int j = 0; j < kStream / 8; ++j) {
        drop_pair(scores[j][0], scores[j][1], call, row, at + j * 8 + mma_column(0));
        drop_pair(scores[j][2], scores[j][3], call, row + 8, at + j * 8 + mma_column(0));
      }
    }
    add_product<kHead, kHead>(sums, scores, value);
  }
  const std::int64_t row = call.row(job.batch, job.head, first);
  write_sums(result + row * s.value_width, s.queries - first, s.value_width, 0, sums, near.inverse(),
             far.inverse());
  if (mma_lane() % 4 == 0) {
    if (first + mma_row(0) < s.queries) log_sum[row + mma_row(0)] = near.log_sum();
    if (first + mma_row(2) < s.queries) log_sum[row + mma_row(2)] = far.log_sum();
  }
}

template <class T, int kHead>
void run(ops::AttentionSaved& call) {
  using L = Layout<kHead>;
  const Sizes s(call);
  const std::int64_t blocks = s.batch * s.heads * ceil_div(s.queries, kOwn);
  if (blocks == 0) return;
  launch(call.query.device(),
         {dim3(grid_blocks(blocks)), dim3(kTensorThreads), (kOwn + 2 * L::kStream) * L::kPitch * sizeof(T)},
         &tensor_forward_kernel<T, kHead>, Call<T>(call), ByVectors(call),
         call.result.template address_as<T>(), call.log_sum.template address_as<float>());
}

}  // namespace

bool tensor_forward(ops::AttentionSaved& call) {
  return for_tensor_cores(call, [&]<class T> {
    with_head(std::max(call.query.sizes()[3], call.value.sizes()[3]),
              [&]<int kHead> { run<T, kHead>(call); });
  });
}

}  // namespace ebb::cuda::attention
