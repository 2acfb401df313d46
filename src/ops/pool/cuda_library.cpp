// Poolings by a library: windows of one size, each step the same.
#include "kernel/cuda/dnn.h"
#include "ops/pool/cuda.h"

#include <algorithm>
#include <span>

namespace ebb::cuda {
namespace {

bool is_trivial(const PoolAxis& a) { return a.in == 1 && a.out == 1 && a.kernel == 1 && a.padding == 0; }

// The axes that a library is told of.
std::span<const PoolAxis> axes_of(const PoolGeometry& g) {
  return std::span(g.axis).subspan(is_trivial(g.axis[0]) ? 1 : 0);
}

// (rows, channels, spatial...): planes in the order of memory, which samples without a batch, or with a
// channel each, are too.
NdArray as_images(const NdArray& x, const PoolGeometry& g, std::int64_t PoolAxis::*size) {
  const bool batched = x.dim() >= 4 && x.sizes()[0] * x.sizes()[1] == g.planes;
  const std::int64_t channels = g.interleaved > 1 ? g.interleaved : batched ? x.sizes()[1] : g.planes;
  DimVector sizes{g.planes / channels, channels};
  for (const PoolAxis& a : axes_of(g)) sizes.push_back(a.*size);
  return x.as_strided(sizes, g.interleaved > 1 ? channels_last_strides(sizes) : contiguous_strides(sizes),
                      x.offset());
}

bool by_library(DnnPool kind, bool transposed, const NdArray& in, const NdArray& out, const PoolGeometry& g) {
  const auto is_regular = [](const PoolAxis& a) { return !a.adaptive && a.dilation == 1; };
  if (g.planes == 0 || !dnn_is_used() || !std::ranges::all_of(axes_of(g), is_regular)) return false;
  DimVector window, stride, padding;
  for (const PoolAxis& a : axes_of(g)) {
    window.push_back(a.kernel);
    stride.push_back(a.stride);
    padding.push_back(a.padding);
  }
  return dnn_pool({.kind = kind,
                   .transposed = transposed,
                   .in = as_images(in, g, &PoolAxis::in),
                   .out = as_images(out, g, &PoolAxis::out),
                   .window = window,
                   .stride = stride,
                   .padding = padding});
}

}  // namespace

bool max_pool_by_library(const NdArray& out, const NdArray& in, const PoolGeometry& g) {
  return by_library(DnnPool::max, false, in, out, g);
}

bool mean_pool_by_library(bool transposed, const NdArray& in, const NdArray& out, const PoolGeometry& g) {
  if (g.divisor != 0) return false;
  const auto is_padded = [](const PoolAxis& a) { return a.padding > 0; };
  if (!g.include_padding || !std::ranges::any_of(g.axis, is_padded))
    return by_library(DnnPool::mean_inside, transposed, in, out, g);
  // What lies beyond the padding, where sizes are rounded up, counts in no divisor of ours.
  const auto ends_inside = [](const PoolAxis& a) {
    return (a.out - 1) * a.stride - a.padding + a.kernel <= a.in + a.padding;
  };
  return std::ranges::all_of(axes_of(g), ends_inside) && by_library(DnnPool::mean, transposed, in, out, g);
}

}  // namespace ebb::cuda
