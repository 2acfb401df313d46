// Iterates over several arrays of the same shape in row-major order, with any strides, for kernels that need
// the position of an element.
#pragma once

#include "kernel/cuda/launch.h"
#include "kernel/element_types.h"
#include "kernel/elementwise_plan.h"

namespace ebb::cuda {

constexpr int kWalkDims = 16;
constexpr unsigned kWalkThreads = 256;

/// Element offsets of N arrays at a position in row-major order. The merged dimensions are stored from the
/// innermost (0) to the outermost.
template <int N>
struct DeviceWalk {
  int dims = 0;
  bool small = true;  // every offset fits 31 bits
  std::int64_t numel;
  std::int64_t sizes[kWalkDims];
  FastDivisor divisors[kWalkDims];
  std::int64_t strides[N][kWalkDims];

  DeviceWalk(const char* op, IntArrayRef shape, const std::array<IntArrayRef, N>& array_strides)
      : numel(checked_numel(shape)) {
    merge_dims<N>(
        shape, row_major_order(shape), [&](int i, int d) { return array_strides[i][d]; },
        [&](std::int64_t size, const std::array<std::int64_t, N>& steps) {
          EBB_CHECK(dims < kWalkDims, op, ": more than ", kWalkDims, " dimensions in shape ", shape,
                    " on Device::CUDA. Merge some with reshape.");
          sizes[dims] = size;
          for (int i = 0; i < N; ++i) strides[i][dims] = steps[i];
          ++dims;
        });
    small = numel <= INT32_MAX;
    for (int d = 0; small && numel > 0 && d < dims; ++d)
      divisors[d] = FastDivisor(static_cast<std::uint32_t>(sizes[d]));
  }

  EBB_HD void offsets(std::int64_t place, std::int64_t (&out)[N]) const {
    for (int i = 0; i < N; ++i) out[i] = 0;
    for (int d = 0; d < dims; ++d) {
      std::int64_t next = 0;
      if (d + 1 < dims)
        next = small ? divisors[d].divide(static_cast<std::uint32_t>(place)) : place / sizes[d];
      const std::int64_t at = place - next * sizes[d];
      place = next;
      for (int i = 0; i < N; ++i) out[i] += at * strides[i][d];
    }
  }
};

template <class Body>
__global__ void __launch_bounds__(kWalkThreads)
    for_each_kernel(const __grid_constant__ Body body, std::int64_t count) {
  const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * blockDim.x;
  for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * blockDim.x + threadIdx.x; i < count;
       i += step)
    body(i);
}

/// Runs body(i) for every i below `count`, in any order. `body` is a functor with `__device__ void
/// operator()(std::int64_t) const`.
template <class Body>
void for_each(Device device, std::int64_t count, const Body& body) {
  if (count == 0) return;
  const std::int64_t most = std::int64_t{1} << 30;
  launch_independent(device, grid_for(count < most ? count : most, kWalkThreads), &for_each_kernel<Body>,
                     body, count);
}

}  // namespace ebb::cuda
