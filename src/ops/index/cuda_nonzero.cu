// The device kernel nonzero. One launch counts the nonzero elements of each block, a scan of the counts gives
// the offset of each block, and another launch writes the indices.
#include <ebb/core/visit.h>

#include "kernel/cuda/block_reduce.h"
#include "kernel/cuda/walk.h"
#include "ops/common/kernels.h"
#include "ops/index/kernels.h"

namespace ebb::cuda {
namespace {

constexpr int kThreads = 256;
constexpr int kEach = 8;  // neighbouring elements of a thread

template <class T>
__device__ bool is_nonzero(T x) {
  if constexpr (std::is_arithmetic_v<T>)
    return x != T(0);
  else
    return (x.bits & 0x7fff) != 0;
}

template <class T>
__global__ void __launch_bounds__(kThreads)
    count_kernel(std::int64_t* counts, const T* x, DeviceWalk<1> walk) {
  __shared__ std::int64_t scratch[kWarp];
  const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * kThreads + threadIdx.x) * kEach;
  std::int64_t found = 0;
  for (std::int64_t i = first; i < first + kEach && i < walk.numel; ++i) {
    std::int64_t at[1];
    walk.offsets(i, at);
    found += is_nonzero(x[at[0]]);
  }
  found = block_reduce(found, scratch, Plus(), static_cast<int>(threadIdx.x), kThreads);
  if (threadIdx.x == 0) counts[blockIdx.x] = found;
}

struct Shape {
  int dims;
  std::int64_t sizes[64];
};

// ends[b] is the number of nonzero elements in blocks 0 to b.
template <class T>
__global__ void __launch_bounds__(kThreads)
    write_kernel(std::int64_t* out, const std::int64_t* ends, const T* x, DeviceWalk<1> walk, Shape shape) {
  __shared__ std::int64_t warps[kThreads / kWarp];
  const int thread = static_cast<int>(threadIdx.x), lane = thread % kWarp, warp = thread / kWarp;
  const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * kThreads + thread) * kEach;
  bool taken[kEach];
  std::int64_t found = 0;
  for (int k = 0; k < kEach; ++k) {
    taken[k] = false;
    if (first + k >= walk.numel) continue;
    std::int64_t at[1];
    walk.offsets(first + k, at);
    taken[k] = is_nonzero(x[at[0]]);
    found += taken[k];
  }
  std::int64_t place = found;  // becomes the inclusive sum over threads
  for (int delta = 1; delta < kWarp; delta *= 2) {
    const std::int64_t before = shuffle_up(place, static_cast<unsigned>(delta));
    if (lane >= delta) place += before;
  }
  if (lane == kWarp - 1) warps[warp] = place;
  __syncthreads();
  for (int w = 0; w < warp; ++w) place += warps[w];
  place += (blockIdx.x == 0 ? 0 : ends[blockIdx.x - 1]) - found;
  for (int k = 0; k < kEach; ++k) {
    if (!taken[k]) continue;
    std::int64_t rest = first + k;
    for (int d = shape.dims - 1; d >= 0; --d) {
      out[place * shape.dims + d] = rest % shape.sizes[d];
      rest /= shape.sizes[d];
    }
    ++place;
  }
}

}  // namespace

void nonzero(NdArray& out, const NdArray& x) {
  const Device device = x.device();
  const std::int64_t n = x.numel(), dims = x.dim(), blocks = (n + kThreads * kEach - 1) / (kThreads * kEach);
  if (n == 0) {
    out = NdArray::empty({0, dims}, kLong, device);
    return;
  }
  const DeviceWalk<1> walk("nonzero", x.sizes(), {x.strides()});
  NdArray counts = NdArray::empty({blocks}, kLong, device), ends = NdArray::empty({blocks}, kLong, device);
  Shape shape{static_cast<int>(dims), {}};
  for (std::int64_t d = 0; d < dims; ++d) shape.sizes[d] = x.sizes()[d];
  visit_all(x.dtype(), "nonzero", [&]<class T> {
    const Grid grid{dim3(static_cast<unsigned>(blocks)), dim3(kThreads)};
    launch(device, grid, &count_kernel<T>, counts.address_as<std::int64_t>(), x.address_as<T>(), walk);
    kernels::scan(device, ends, counts, 0, ScanKind::sum, false);
    const auto total = read_back<std::int64_t>(device, ends.address_as<std::int64_t>() + blocks - 1);
    out = NdArray::empty({total, dims}, kLong, device);
    if (total > 0)
      launch(device, grid, &write_kernel<T>, out.address_as<std::int64_t>(), ends.address_as<std::int64_t>(),
             x.address_as<T>(), walk, shape);
  });
}

}  // namespace ebb::cuda
