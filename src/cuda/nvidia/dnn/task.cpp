// Problem, the cache key of a plan, and the descriptor of a task's memory.
#include "cuda/nvidia/dnn/task.h"

#include <ebb/cuda/cuda.h>

#include <algorithm>
#include <cstring>

namespace ebb::cuda::dnn {
namespace {

void read_sizes(std::int64_t (&to)[5], IntArrayRef sizes, int axes) {
  to[0] = sizes[0];
  to[1] = sizes[1];
  const int given = static_cast<int>(sizes.size()) - 2;
  for (int a = 0; a < axes; ++a) to[2 + a] = a < axes - given ? 1 : sizes[2 + a - (axes - given)];
}

void read_axes(std::int64_t (&to)[3], IntArrayRef values, int axes, std::int64_t fill) {
  const int given = static_cast<int>(values.size());
  for (int a = 0; a < axes; ++a) to[a] = a < axes - given ? fill : values[a - (axes - given)];
}

}  // namespace

Problem::Problem(Operation what, const NdArray& x, const NdArray& y) {
  std::memset(this, 0, sizeof(*this));
  operation = what;
  axes = std::max(2, static_cast<int>(x.dim()) - 2);
  read_sizes(in, x.sizes(), axes);
  read_sizes(out, y.sizes(), axes);
  dtype = static_cast<std::int32_t>(x.dtype());
  channels_last = !(x.is_contiguous() && y.is_contiguous());
  deterministic = is_cudnn_deterministic();
  device = x.device().index();
  alignment = kMostAligned;
  take(x);
  take(y);
}

void Problem::set_window(IntArrayRef sizes) { read_sizes(window, sizes, axes); }

void Problem::set_steps(IntArrayRef strides, IntArrayRef paddings) {
  read_axes(stride, strides, axes, 1);
  read_axes(padding, paddings, axes, 0);
}

void Problem::set_dilation(IntArrayRef dilations) { read_axes(dilation, dilations, axes, 1); }

void Problem::take(const NdArray& x) {
  const auto address = reinterpret_cast<std::uintptr_t>(x.address());
  while (address % static_cast<std::uintptr_t>(alignment) != 0) alignment /= 2;
}

Descriptor variant_pack(const Task& task, void* workspace) {
  Descriptor pack(CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR);
  pack.set(CUDNN_ATTR_VARIANT_PACK_UNIQUE_IDS, task.ids);
  pack.set(CUDNN_ATTR_VARIANT_PACK_DATA_POINTERS, task.memory);
  pack.set(CUDNN_ATTR_VARIANT_PACK_WORKSPACE, workspace);
  pack.finalize();
  return pack;
}

}  // namespace ebb::cuda::dnn
