// Delta of attention: for each row the sum of gradient times result.
#include <ebb/core/visit.h>

#include "kernel/cuda/launch.h"
#include "ops/attention/cuda_backward.h"

namespace ebb::cuda::attending {
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

}  // namespace

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

}  // namespace ebb::cuda::attending
