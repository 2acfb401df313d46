// The kernels of convolution. Each is linear in both operands (except for a relu), and its derivatives are
// the other two. The CPU takes contiguous arrays of Float or Double, or both operands in BFloat16 and the
// rest in Float. CUDA takes any floating dtype, with all arrays of a call contiguous or all channels-last.
// Results are dense.
#pragma once

#include <ebb/core/ndarray.h>

#include "kernel/slot_list.h"
#include "ops/conv/geometry.h"

namespace ebb {

namespace cpu {
/// Computes out[n, o, q] = bias[o] + the sum over c, k of weight[o, c, k] in[n, c, stride q + dilation k -
/// padding]. bias may be undefined. With relu, negative results become 0.
void conv_forward(NdArray& out, const NdArray& in, const NdArray& weight, const NdArray& bias,
                  const ConvGeometry& geometry, bool relu);
/// Computes the transpose in `in`: in[n, c, p] = bias[c] + the sum of weight[o, c, k] out[n, o, q] over all
/// o, k, q with p = stride q + dilation k - padding.
void conv_input(NdArray& in, const NdArray& out, const NdArray& weight, const NdArray& bias,
                const ConvGeometry& geometry);
/// Computes the transpose in `weight`: weight[o, c, k] = the sum of out[n, o, q] in[n, c, stride q + dilation
/// k - padding].
void conv_weight(NdArray& weight, const NdArray& out, const NdArray& in, const ConvGeometry& geometry);
}  // namespace cpu

}  // namespace ebb

#define EBB_CONV_KERNELS(X)       \
  X(conv_forward, "convolution"); \
  X(conv_input, "convolution");   \
  X(conv_weight, "convolution");
EBB_DECLARE_KERNELS(EBB_CONV_KERNELS)
