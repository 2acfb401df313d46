// The gradient of an additive mask on the device: the gradients of the scores, summed over the dimensions
// along which the mask was broadcast. One block computes each tile of the result.
#include <ebb/core/visit.h>

#include "kernel/cuda/launch.h"
#include "ops/attention/cuda_backward.h"
#include "ops/attention/cuda_score_grads.h"
#include "ops/attention/kernels.h"

namespace ebb::cuda {
namespace attending {
namespace {

/// One dimension of the scores: divided into tiles if the mask has the dimension, else each block iterates
/// over all of it.
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
}  // namespace attending

void attention_mask_backward(NdArray& out, const NdArray& grad, const ops::AttentionSaved& call) {
  if (out.numel() == 0) return;
  visit_floating(call.query.dtype(), "scaled_dot_product_attention",
                 [&]<class T> { attending::mask_backward<T>(out, grad, call); });
}

}  // namespace ebb::cuda
