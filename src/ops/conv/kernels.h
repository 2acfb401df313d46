// The kernels of convolution, and its geometry. Each kernel is linear in both operands (except for relu), and
// its derivatives are the other two kernels.
// On the CPU, either all arrays are of the same dtype, Float or Double, and each of them is contiguous or
// channels-last; or both operands are BFloat16, the other arrays are Float, and all are contiguous. On CUDA,
// arrays have any floating dtype; all arrays of a call are contiguous, or all are channels-last.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/call/slot.h"

#include <cstdint>
#include <tuple>

namespace ebb {

/// The geometry of a convolution, always with three spatial axes. If there are only one or two, the leading
/// axes have size 1. The kernel always slides over `in`, even if a transposed convolution or a gradient
/// computes `in` from `out`.
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

namespace cpu {
/// Computes out[n, o, q] = bias[o] + the sum over c and k of weight[o, c, k] in[n, c, stride q + dilation k -
/// padding]. bias may be undefined. If `relu`, negative results become 0.
void conv_forward(NdArray& out, const NdArray& in, const NdArray& weight, const NdArray& bias,
                  const ConvGeometry& geometry, bool relu);
/// Computes the transpose of the convolution: in[n, c, p] = bias[c] + the sum of weight[o, c, k] out[n, o, q]
/// over all o, k and q with p = stride q + dilation k - padding.
void conv_input(NdArray& in, const NdArray& out, const NdArray& weight, const NdArray& bias,
                const ConvGeometry& geometry);
/// Computes the gradient of the weight: weight[o, c, k] = the sum over n and q of out[n, o, q] in[n, c,
/// stride q + dilation k - padding].
void conv_weight(NdArray& weight, const NdArray& out, const NdArray& in, const ConvGeometry& geometry);
}  // namespace cpu

}  // namespace ebb

#define EBB_CONV_KERNELS(X)       \
  X(conv_forward, "convolution"); \
  X(conv_input, "convolution");   \
  X(conv_weight, "convolution");
EBB_DECLARE_KERNELS(EBB_CONV_KERNELS)
