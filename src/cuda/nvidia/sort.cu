// One long run is a device-wide radix sort; many runs are CUB's segmented sort, which suits each run's
// length.
#include "kernel/cuda/sort.h"

#include <ebb/core/ndarray.h>
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_radix_sort.cuh>
#include <cub/device/device_segmented_sort.cuh>

#include "cuda/runtime.h"

namespace ebb::cuda {
namespace {

// Runs a CUB algorithm, which is called twice: for the size of its workspace and to work.
template <class Algorithm>
void with_workspace(Device device, const Algorithm& algorithm) {
  const DeviceScope scope(device);
  std::size_t bytes = 0;
  check(algorithm(nullptr, bytes), "sort");
  const NdArray workspace = NdArray::empty({static_cast<std::int64_t>(bytes) + 1}, kByte, device);
  check(algorithm(workspace.data(), bytes), "sort");
}

struct SegmentStart {
  std::int64_t n;
  __host__ __device__ std::int64_t operator()(std::int64_t segment) const { return segment * n; }
};

auto starts(std::int64_t first, std::int64_t n) {
  return thrust::make_transform_iterator(thrust::counting_iterator<std::int64_t>(first), SegmentStart{n});
}

// What is left in the second half of a buffer is brought back into the first.
template <class T>
void settle(cub::DoubleBuffer<T>& buffer, T* wanted, std::int64_t count, cudaStream_t stream) {
  if (buffer.Current() == wanted) return;
  check(cudaMemcpyAsync(wanted, buffer.Current(), static_cast<std::size_t>(count) * sizeof(T),
                        cudaMemcpyDeviceToDevice, stream),
        "copy of sorted items");
}

}  // namespace

void sort_keys(Device device, std::uint64_t* keys, std::int64_t segments, std::int64_t n) {
  const std::int64_t count = segments * n;
  if (count == 0) return;
  const cudaStream_t stream = current_stream(device);
  const NdArray spare = NdArray::empty({count}, kLong, device);
  cub::DoubleBuffer<std::uint64_t> buffer(keys, spare.data_as<std::uint64_t>());
  with_workspace(device, [&](void* workspace, std::size_t& bytes) {
    if (segments == 1) return cub::DeviceRadixSort::SortKeys(workspace, bytes, buffer, count, 0, 64, stream);
    return cub::DeviceSegmentedSort::SortKeys(workspace, bytes, buffer, count, segments, starts(0, n),
                                              starts(1, n), stream);
  });
  settle(buffer, keys, count, stream);
}

void sort_pairs(Device device, std::uint64_t* keys, std::int64_t* values, std::int64_t segments,
                std::int64_t n, int bits) {
  const std::int64_t count = segments * n;
  if (count == 0) return;
  const cudaStream_t stream = current_stream(device);
  const NdArray spare = NdArray::empty({2, count}, kLong, device);
  cub::DoubleBuffer<std::uint64_t> key_buffer(keys, spare.data_as<std::uint64_t>());
  cub::DoubleBuffer<std::int64_t> value_buffer(values, spare.data_as<std::int64_t>() + count);
  with_workspace(device, [&](void* workspace, std::size_t& bytes) {
    if (segments == 1)
      return cub::DeviceRadixSort::SortPairs(workspace, bytes, key_buffer, value_buffer, count, 0, bits,
                                             stream);
    return cub::DeviceSegmentedSort::StableSortPairs(workspace, bytes, key_buffer, value_buffer, count,
                                                     segments, starts(0, n), starts(1, n), stream);
  });
  settle(key_buffer, keys, count, stream);
  settle(value_buffer, values, count, stream);
}

}  // namespace ebb::cuda
