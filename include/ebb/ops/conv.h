// Convolutions over one, two and three axes.
//
// Input [batch, channels, spatial...] or, unbatched, [channels, spatial...]; weight [out, in / groups,
// kernel...] (for transposed convolutions [in, out / groups, kernel...]); bias [out] or none. Floating
// dtypes; 16-bit floats compute in float. stride, padding and dilation take one value an axis or one for all.
// Differentiable to any order. The result is channels-last where the input or the weight is (of 4 or 5
// dimensions), and so is the input's gradient; the weight's is laid out like the weight. As in every
// framework for neural networks, "convolution" does not flip the kernel. Mismatches throw ebb::Error with
// both shapes.
#pragma once

#include <ebb/autograd/variable.h>

#include <string_view>
#include <type_traits>

namespace ebb {

/// out[n, o, q] = bias[o] + the sum over c, k of weight[o, c, k] input[n, c, stride q + dilation k - padding]
/// (torch.nn.functional.conv1d). Output length: (in + 2 padding - dilation (kernel - 1) - 1) / stride + 1,
/// rounded down.
EBB_API Variable conv1d(const Variable& input, const Variable& weight, const optional<Variable>& bias = {},
                        IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1,
                        std::int64_t groups = 1);
EBB_API Variable conv2d(const Variable& input, const Variable& weight, const optional<Variable>& bias = {},
                        IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1,
                        std::int64_t groups = 1);
EBB_API Variable conv3d(const Variable& input, const Variable& weight, const optional<Variable>& bias = {},
                        IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1,
                        std::int64_t groups = 1);

/// The name of a padding. Not a string_view, to which a padding of 0 would convert as well as to a list of
/// numbers.
struct ConvPadding {
  template <class T>
    requires std::is_convertible_v<const T&, std::string_view>
  ConvPadding(const T& padding) : name(padding) {}
  std::string_view name;
};

/// padding "valid" pads nothing; "same" pads so that the output is as large as the input (stride 1 only), an
/// odd amount with one more at the end.
EBB_API Variable conv1d(const Variable& input, const Variable& weight, const optional<Variable>& bias,
                        IntArrayRef stride, ConvPadding padding, IntArrayRef dilation = 1,
                        std::int64_t groups = 1);
EBB_API Variable conv2d(const Variable& input, const Variable& weight, const optional<Variable>& bias,
                        IntArrayRef stride, ConvPadding padding, IntArrayRef dilation = 1,
                        std::int64_t groups = 1);
EBB_API Variable conv3d(const Variable& input, const Variable& weight, const optional<Variable>& bias,
                        IntArrayRef stride, ConvPadding padding, IntArrayRef dilation = 1,
                        std::int64_t groups = 1);

/// The transpose of conv, as a layer: input position q adds weight[c, o, k] input[n, c, q] to output position
/// stride q + dilation k - padding (torch.nn.functional.conv_transpose1d). Output length: (in - 1) stride - 2
/// padding + dilation (kernel - 1) + output_padding + 1; output_padding must be smaller than stride or
/// dilation.
EBB_API Variable conv_transpose1d(const Variable& input, const Variable& weight,
                                  const optional<Variable>& bias = {}, IntArrayRef stride = 1,
                                  IntArrayRef padding = 0, IntArrayRef output_padding = 0,
                                  std::int64_t groups = 1, IntArrayRef dilation = 1);
EBB_API Variable conv_transpose2d(const Variable& input, const Variable& weight,
                                  const optional<Variable>& bias = {}, IntArrayRef stride = 1,
                                  IntArrayRef padding = 0, IntArrayRef output_padding = 0,
                                  std::int64_t groups = 1, IntArrayRef dilation = 1);
EBB_API Variable conv_transpose3d(const Variable& input, const Variable& weight,
                                  const optional<Variable>& bias = {}, IntArrayRef stride = 1,
                                  IntArrayRef padding = 0, IntArrayRef output_padding = 0,
                                  std::int64_t groups = 1, IntArrayRef dilation = 1);

/// Any of the above, by the number of the weight's dimensions (torch.convolution).
EBB_API Variable convolution(const Variable& input, const Variable& weight, const optional<Variable>& bias,
                             IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
                             IntArrayRef output_padding, std::int64_t groups);

/// relu(conv(input, weight, bias)) by the number of the weight's dimensions, in one pass on a GPU
/// (torch.cudnn_convolution_relu, here on every device and differentiable). Only the result is kept for the
/// gradient of the relu.
EBB_API Variable convolution_relu(const Variable& input, const Variable& weight,
                                  const optional<Variable>& bias = {}, IntArrayRef stride = 1,
                                  IntArrayRef padding = 0, IntArrayRef dilation = 1, std::int64_t groups = 1);

/// conv1d of a sequence (T, B, C_in) with weight (kernel, C_in, C_out), bias (C_out) and `pad` zeros at both
/// ends: (T', B, C_out). (torch.conv_tbc)
EBB_API Variable conv_tbc(const Variable& self, const Variable& weight, const Variable& bias,
                          std::int64_t pad = 0);

/// conv3d with a group for each channel of self, (N, C, D, H, W); weight (C m, 1, kernel...).
/// (torch.ops.aten.conv_depthwise3d)
EBB_API Variable conv_depthwise3d(const Variable& self, const Variable& weight, IntArrayRef kernel_size,
                                  const optional<Variable>& bias, IntArrayRef stride, IntArrayRef padding,
                                  IntArrayRef dilation);

}  // namespace ebb
