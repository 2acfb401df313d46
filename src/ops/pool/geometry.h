// Windows of a pooling, along three axes; one and two stand behind leading axes of size 1.
#pragma once

#include <ebb/core/half.h>

#include <cstdint>

namespace ebb {

struct PoolAxis {
  std::int64_t in = 1;
  std::int64_t out = 1;
  std::int64_t kernel = 1;
  std::int64_t stride = 1;
  std::int64_t padding = 0;
  std::int64_t dilation = 1;
  bool adaptive = false;  // windows from in and out alone, which may overlap and differ in size

  /// First element of window o, in steps of the dilation from where it would start without an edge.
  EBB_HD std::int64_t first(std::int64_t o) const {
    if (adaptive) return o * in / out;
    const std::int64_t at = o * stride - padding;
    return at >= 0 ? at : at + (-at + dilation - 1) / dilation * dilation;
  }
  /// One past its last element.
  EBB_HD std::int64_t last(std::int64_t o) const {
    if (adaptive) return ((o + 1) * in + out - 1) / out;
    const std::int64_t end = o * stride - padding + (kernel - 1) * dilation + 1;
    return end < in ? end : in;
  }
  /// What the window counts for in a mean: its elements, and those of the padding if asked for.
  EBB_HD std::int64_t weight(std::int64_t o, bool include_padding) const {
    if (adaptive || !include_padding) return last(o) - first(o);
    const std::int64_t start = o * stride - padding, end = start + kernel;
    return (end < in + padding ? end : in + padding) - start;
  }
};

struct PoolPlanes {
  std::int64_t planes = 0;  // batch times channels
  std::int64_t interleaved =
      1;  // neighbouring planes that alternate in memory: the channels of channels-last
};

struct PoolGeometry : PoolPlanes {
  PoolAxis axis[3];
  bool include_padding = true;
  std::int64_t divisor = 0;  // in place of the weights, unless 0

  EBB_HD std::int64_t in_plane() const { return axis[0].in * axis[1].in * axis[2].in; }
  EBB_HD std::int64_t out_plane() const { return axis[0].out * axis[1].out * axis[2].out; }
  EBB_HD std::int64_t weight(std::int64_t z, std::int64_t y, std::int64_t x) const {
    if (divisor != 0) return divisor;
    return axis[0].weight(z, include_padding) * axis[1].weight(y, include_padding) *
           axis[2].weight(x, include_padding);
  }
};

}  // namespace ebb
