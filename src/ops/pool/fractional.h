// Fractional max pooling (Graham 2014): windows of the same size at random positions, for host and device.
#pragma once

#include <ebb/core/half.h>
#include <ebb/core/ndarray.h>

#include "kernel/call/slot.h"

#include <cmath>
#include <cstdint>
#include <tuple>

namespace ebb {

/// The shapes of a fractional max pooling along three axes. In 2d, the first axis has size 1.
struct FractionalGeometry {
  std::int64_t planes = 0;
  std::int64_t in[3] = {1, 1, 1}, out[3] = {1, 1, 1}, kernel[3] = {1, 1, 1};
  int sample[3] = {0, 0, 0};  // the index of each axis among the samples of a plane
  int samples = 3;            // the number of samples of a plane

  EBB_HD std::int64_t outputs() const { return out[0] * out[1] * out[2]; }
  EBB_HD std::int64_t volume() const { return in[0] * in[1] * in[2]; }
};

/// Returns the fields, so that calls with this argument can be recorded.
inline auto fields_of(FractionalGeometry& g) {
  return std::tie(g.planes, g.in, g.out, g.kernel, g.sample, g.samples);
}

/// Returns the first element of window o: floor((o + u) step) - floor(u step), with step = (in - kernel) /
/// (out - 1) and a random u in [0, 1). The last window ends at the end of the axis.
template <class C>
EBB_HD std::int64_t fractional_start(std::int64_t o, std::int64_t in, std::int64_t out, std::int64_t kernel,
                                     C u) {
  if (o == out - 1) return in - kernel;
  const C step = static_cast<C>(in - kernel) / static_cast<C>(out - 1);
  const std::int64_t start =
      static_cast<std::int64_t>((static_cast<C>(o) + u) * step) - static_cast<std::int64_t>(u * step);
  return start < 0 ? 0 : start > in - kernel ? in - kernel : start;
}

/// Returns the position of the greatest element of window o of a plane.
template <class T, class C>
EBB_HD std::int64_t fractional_max_place(const T* plane, const T* samples, const FractionalGeometry& g,
                                         std::int64_t o) {
  std::int64_t first[3];
  for (int d = 2; d >= 0; --d) {
    const std::int64_t next = o / g.out[d];
    first[d] = fractional_start(o - next * g.out[d], g.in[d], g.out[d], g.kernel[d],
                                static_cast<C>(samples[g.sample[d]]));
    o = next;
  }
  std::int64_t best = (first[0] * g.in[1] + first[1]) * g.in[2] + first[2];
  C most = static_cast<C>(plane[best]);
  for (std::int64_t z = first[0]; z < first[0] + g.kernel[0]; ++z)
    for (std::int64_t y = first[1]; y < first[1] + g.kernel[1]; ++y)
      for (std::int64_t x = first[2]; x < first[2] + g.kernel[2]; ++x) {
        const std::int64_t at = (z * g.in[1] + y) * g.in[2] + x;
        const C value = static_cast<C>(plane[at]);
        if (value > most || value != value) most = value, best = at;
      }
  return best;
}

}  // namespace ebb

namespace ebb::cpu {

/// Computes indices[plane, o], the position in its plane of the greatest element of window o. If several
/// elements are equally great, it is the position of the first one. A NaN counts as greatest. `in` (planes,
/// volume) and `samples` (planes, dims) are contiguous and floating-point; `indices` is Long.
void fractional_max_indices(NdArray& indices, const NdArray& in, const NdArray& samples,
                            const FractionalGeometry& geometry);

}  // namespace ebb::cpu

#define EBB_FRACTIONAL_KERNELS(X) X(fractional_max_indices, "fractional_max_pool");
EBB_DECLARE_KERNELS(EBB_FRACTIONAL_KERNELS)
