// Kernel slots of grid_sample and of resizing one axis.
#pragma once

#include <ebb/core/ndarray.h>
#include <ebb/core/visit.h>

#include "kernel/call/slot.h"
#include "ops/pool/math_axis.h"
#include "ops/pool/math_grid.h"

#include <type_traits>

namespace ebb {

/// A sampling: input (batch, channels, axes...), grid (batch, places..., axes), output (batch, channels,
/// places...), where places are the points of the grid.
struct SampleGeometry {
  std::int64_t batch = 0, channels = 0, places = 1;
  int dims = 2;
  std::int64_t sizes[3] = {1, 1, 1};  // sizes of the input's axes; the last axis is first
  sampling::Interpolation interpolation = sampling::Interpolation::bilinear;
  sampling::Padding padding = sampling::Padding::zeros;
  bool align_corners = false;

  auto fields() {
    return std::tie(batch, channels, places, dims, sizes, interpolation, padding, align_corners);
  }
  std::int64_t volume() const { return sizes[0] * sizes[1] * sizes[2]; }
  template <int kDims>
  void axes(sampling::Axis (&out)[kDims]) const {
    for (int d = 0; d < kDims; ++d) out[d] = {sizes[d], padding, align_corners};
  }
};

/// Calls f.template operator()<kDims, kTaps>().
template <class F>
void visit_neighbourhood(const SampleGeometry& g, F&& f) {
  using sampling::Interpolation;
  if (g.dims == 3) {
    if (g.interpolation == Interpolation::nearest) return f.template operator()<3, 1>();
    return f.template operator()<3, 2>();
  }
  if (g.interpolation == Interpolation::nearest) return f.template operator()<2, 1>();
  if (g.interpolation == Interpolation::bicubic) return f.template operator()<2, 4>();
  return f.template operator()<2, 2>();
}

/// The windows of an axis: the input window of each output element, and for each input element the range of
/// output elements whose windows contain it.
struct AxisTable {
  NdArray starts;   // (out), Long
  NdArray weights;  // (out, width), Float or Double
  NdArray users;    // (in, 2), Long: the first output element, and one past the last
};

/// The position of an axis in a contiguous array: (outer, n, inner).
struct AxisPosition {
  std::int64_t outer = 1, inner = 1;
};

namespace cpu {

/// Computes out[n, c, p], the weighted sum of the elements that grid[n, p] selects. All arrays are contiguous
/// and have the same floating-point dtype.
void grid_sample(NdArray& out, const NdArray& in, const NdArray& grid, const SampleGeometry& geometry);
/// Computes the gradient of the input. `din` is Float if the dtype has 16 bits.
void grid_sample_backward_input(NdArray& din, const NdArray& dout, const NdArray& grid,
                                const SampleGeometry& geometry);
/// Computes the gradient of the grid.
void grid_sample_backward_grid(NdArray& dgrid, const NdArray& dout, const NdArray& in, const NdArray& grid,
                               const SampleGeometry& geometry);
void axis_table(AxisTable& table, const resizing::AxisRule& rule);
/// Computes out[o, j, i], the sum over k of weights[j, k] in[o, starts[j] + k, i], or the transpose of this
/// map if `transposed`. The arrays are contiguous. One may be Float and the other 16-bit, so that resizing
/// several axes rounds to 16 bits only once.
void resize_axis(NdArray& out, const NdArray& in, const AxisTable& table, AxisPosition place,
                 bool transposed);

}  // namespace cpu

namespace kernels {

/// Calls f.template operator()<Out, In>() for the pairs of dtypes that resize_axis supports.
template <class F>
void visit_resize(DType out, DType in, F&& f) {
  visit_floating(out, "upsample", [&]<class To> {
    if (out == in)
      f.template operator()<To, To>();
    else if constexpr (std::is_same_v<To, float>) {
      if (in == kHalf)
        f.template operator()<float, Half>();
      else
        f.template operator()<float, BFloat16>();
    } else if constexpr (sizeof(To) == 2) {
      f.template operator()<To, float>();
    }
  });
}

}  // namespace kernels
}  // namespace ebb

#define EBB_RESAMPLE_KERNELS(X)                                 \
  X(grid_sample, "grid_sampler");                               \
  X(grid_sample_backward_input, "grid_sampler_backward_input"); \
  X(grid_sample_backward_grid, "grid_sampler_backward_grid");   \
  X(axis_table, "upsample_table");                              \
  X(resize_axis, "upsample");
EBB_DECLARE_KERNELS(EBB_RESAMPLE_KERNELS)
