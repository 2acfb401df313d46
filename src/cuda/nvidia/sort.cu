// Sorting with CUB. If there are only few long runs, a device-wide radix sort sorts them one after another.
// Runs that fit a block are sorted in the block's shared memory. Other runs use CUB's segmented radix sort.
// In none of these cases does the host wait, so all can be captured in graphs. CUB's DeviceSegmentedSort is
// not used, because it reads sizes back and cannot be captured.
#include <ebb/core/ndarray.h>

#include "cuda/runtime.h"
#include "kernel/cuda/launch.h"
#include "kernel/cuda/sort.h"

#include <cub/block/block_radix_sort.cuh>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_radix_sort.cuh>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>

#include <algorithm>

namespace ebb::cuda {
namespace {

constexpr std::int64_t kBlockItems = 2048;  // the longest run that one block can sort
// If there are at most this many long runs, they are sorted one after another, each on the whole device.
constexpr std::int64_t kFewRuns = 64;
constexpr std::int64_t kMostBlocks = std::int64_t{1} << 20;

struct Items {
  std::uint64_t* keys;
  std::int64_t* values;  // null: keys only
  std::int64_t segments, n;
  KeyBits bits;

  std::int64_t count() const { return segments * n; }
  Items run(std::int64_t segment) const {
    return {keys + segment * n, values ? values + segment * n : nullptr, 1, n, bits};
  }
};

/// Sorts one run per block.
template <int kThreads, int kEach, bool kPairs>
__global__ void __launch_bounds__(kThreads) sort_block_kernel(const __grid_constant__ Items items) {
  using Sort = cub::BlockRadixSort<std::uint64_t, kThreads, kEach,
                                   std::conditional_t<kPairs, std::int64_t, cub::NullType>>;
  __shared__ typename Sort::TempStorage memory;
  for (std::int64_t segment = blockIdx.x; segment < items.segments; segment += gridDim.x) {
    const std::int64_t start = segment * items.n;
    std::uint64_t keys[kEach];
    std::int64_t values[kEach];
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const std::int64_t at = static_cast<std::int64_t>(threadIdx.x) * kEach + i;
      // Padding has the largest key, so it is sorted last. Equal keys keep their order.
      keys[i] = at < items.n ? items.keys[start + at] : ~std::uint64_t{0};
      if constexpr (kPairs) values[i] = at < items.n ? items.values[start + at] : 0;
    }
    if constexpr (kPairs)
      Sort(memory).Sort(keys, values, items.bits.from, items.bits.to);
    else
      Sort(memory).Sort(keys, items.bits.from, items.bits.to);
#pragma unroll
    for (int i = 0; i < kEach; ++i) {
      const std::int64_t at = static_cast<std::int64_t>(threadIdx.x) * kEach + i;
      if (at >= items.n) continue;
      items.keys[start + at] = keys[i];
      if constexpr (kPairs) items.values[start + at] = values[i];
    }
    __syncthreads();  // `memory` is reused
  }
}

template <int kThreads, int kEach>
void sort_in_blocks(Device device, const Items& items) {
  const Grid grid{dim3(static_cast<unsigned>(std::min(items.segments, kMostBlocks))), dim3(kThreads)};
  launch(
      device, grid,
      items.values ? &sort_block_kernel<kThreads, kEach, true> : &sort_block_kernel<kThreads, kEach, false>,
      items);
}

// Calls a CUB algorithm twice. The first call returns the size of the workspace, and the second call runs the
// algorithm.
template <class Algorithm>
void with_workspace(Device device, const Algorithm& algorithm) {
  cudaGetLastError();  // CUB would report an earlier error as its own
  std::size_t bytes = 0;
  check(algorithm(nullptr, bytes), "sort");
  const NdArray workspace = NdArray::empty({static_cast<std::int64_t>(bytes) + 1}, kByte, device);
  check(algorithm(workspace.address(), bytes), "sort");
}

struct SegmentStart {
  std::int64_t n;
  __host__ __device__ std::int64_t operator()(std::int64_t segment) const { return segment * n; }
};

auto starts(std::int64_t first, std::int64_t n) {
  return thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(first), SegmentStart{n});
}

// Copies the result to `wanted`, unless it is already there.
template <class T>
void copy_to_front(cub::DoubleBuffer<T>& buffer, T* wanted, std::int64_t count, cudaStream_t stream) {
  if (buffer.Current() == wanted) return;
  check(cudaMemcpyAsync(wanted, buffer.Current(), static_cast<std::size_t>(count) * sizeof(T),
                        cudaMemcpyDeviceToDevice, stream),
        "copy of sorted items");
}

void sort_by_cub(Device device, const Items& items) {
  using cub::DeviceRadixSort;
  using cub::DeviceSegmentedRadixSort;
  const cudaStream_t stream = current_stream(device);
  const std::int64_t count = items.count();
  const NdArray spare = NdArray::empty({items.values ? 2 : 1, count}, kLong, device);
  cub::DoubleBuffer<std::uint64_t> keys(items.keys, spare.address_as<std::uint64_t>());
  cub::DoubleBuffer<std::int64_t> values(items.values, spare.address_as<std::int64_t>() + count);
  with_workspace(device, [&](void* workspace, std::size_t& bytes) {
    if (items.segments == 1)
      return items.values ? DeviceRadixSort::SortPairs(workspace, bytes, keys, values, count, items.bits.from,
                                                       items.bits.to, stream)
                          : DeviceRadixSort::SortKeys(workspace, bytes, keys, count, items.bits.from,
                                                      items.bits.to, stream);
    const auto begin = starts(0, items.n), end = starts(1, items.n);
    return items.values
               ? DeviceSegmentedRadixSort::SortPairs(workspace, bytes, keys, values, count, items.segments,
                                                     begin, end, items.bits.from, items.bits.to, stream)
               : DeviceSegmentedRadixSort::SortKeys(workspace, bytes, keys, count, items.segments, begin, end,
                                                    items.bits.from, items.bits.to, stream);
  });
  copy_to_front(keys, items.keys, count, stream);
  if (items.values) copy_to_front(values, items.values, count, stream);
}

void sort(Device device, const Items& items) {
  if (items.count() == 0 || items.n == 1) return;
  const DeviceScope scope(device);
  if (items.n <= 64) return sort_in_blocks<32, 2>(device, items);
  if (items.n <= 512) return sort_in_blocks<128, 4>(device, items);
  if (items.n <= kBlockItems) return sort_in_blocks<256, 8>(device, items);
  if (items.segments > kFewRuns) return sort_by_cub(device, items);
  for (std::int64_t segment = 0; segment < items.segments; ++segment) sort_by_cub(device, items.run(segment));
}

}  // namespace

void sort_keys(Device device, std::uint64_t* keys, std::int64_t segments, std::int64_t n, KeyBits bits) {
  sort(device, {keys, nullptr, segments, n, bits});
}

void sort_pairs(Device device, std::uint64_t* keys, std::int64_t* values, std::int64_t segments,
                std::int64_t n, KeyBits bits) {
  sort(device, {keys, values, segments, n, bits});
}

}  // namespace ebb::cuda
