// The geometry of a convolution: sizes and steps, always with three spatial axes.
#pragma once

#include <cstdint>
#include <tuple>

namespace ebb {

/// With one or two spatial axes, the leading axes have size 1. `in` is the side over which `kernel` slides,
/// also if a transposed convolution or a gradient computes it from `out`.
struct ConvGeometry {
  std::int64_t batch = 0;
  std::int64_t in_channels = 0;
  std::int64_t out_channels = 0;
  std::int64_t groups = 1;
  std::int64_t in[3] = {1, 1, 1};
  std::int64_t out[3] = {1, 1, 1};
  std::int64_t kernel[3] = {1, 1, 1};
  std::int64_t stride[3] = {1, 1, 1};
  std::int64_t padding[3] = {0, 0, 0};
  std::int64_t dilation[3] = {1, 1, 1};

  auto fields() {
    return std::tie(batch, in_channels, out_channels, groups, in, out, kernel, stride, padding, dilation);
  }
  std::int64_t group_in() const { return in_channels / groups; }
  std::int64_t group_out() const { return out_channels / groups; }
  static std::int64_t volume(const std::int64_t (&a)[3]) { return a[0] * a[1] * a[2]; }
};

}  // namespace ebb
