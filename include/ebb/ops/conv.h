// conv1d, conv2d, conv3d and their transposes.
//
// Input is [batch, channels, spatial...] or, without a batch, [channels, spatial...]. Weight is [out, in /
// groups, kernel...], for transposed convolutions [in, out / groups, kernel...]. Bias is [out] or none.
// Dtypes are floating; 16-bit floats compute in float. stride, padding and dilation have one value for each
// axis or one for all axes. All functions are differentiable to any order. If the input or the weight is
// channels-last (4 or 5 dimensions), the result and the input's gradient are channels-last. The weight's
// gradient has the strides of the weight. As in all neural network frameworks, "convolution" does not flip
// the kernel. Mismatches throw ebb::Error with both shapes.
#pragma once

#include <ebb/autograd/variable.h>

#include <string_view>
#include <type_traits>

namespace ebb {

/// out[n, o, q] = bias[o] + the sum over c, k of weight[o, c, k] * input[n, c, stride * q + dilation * k -
/// padding] (torch.nn.functional.conv1d). Output length: (in + 2 * padding - dilation * (kernel - 1) - 1) /
/// stride + 1, rounded down.
EBB_API Variable conv1d(const Variable& input, const Variable& weight, const optional<Variable>& bias = {},
                        IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1,
                        std::int64_t groups = 1);
EBB_API Variable conv2d(const Variable& input, const Variable& weight, const optional<Variable>& bias = {},
                        IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1,
                        std::int64_t groups = 1);
EBB_API Variable conv3d(const Variable& input, const Variable& weight, const optional<Variable>& bias = {},
                        IntArrayRef stride = 1, IntArrayRef padding = 0, IntArrayRef dilation = 1,
                        std::int64_t groups = 1);

/// The name of a padding. It is not a string_view, because an integer padding of 0 would convert to a
/// string_view as well as to a list.
struct ConvPadding {
  template <class T>
    requires std::is_convertible_v<const T&, std::string_view>
  ConvPadding(const T& padding) : name(padding) {}
  std::string_view name;
};

/// padding "valid" adds no zeros. "same" pads so that the output has the size of the input (stride 1 only);
/// if the number of zeros is odd, the extra one is at the end.
EBB_API Variable conv1d(const Variable& input, const Variable& weight, const optional<Variable>& bias,
                        IntArrayRef stride, ConvPadding padding, IntArrayRef dilation = 1,
                        std::int64_t groups = 1);
EBB_API Variable conv2d(const Variable& input, const Variable& weight, const optional<Variable>& bias,
                        IntArrayRef stride, ConvPadding padding, IntArrayRef dilation = 1,
                        std::int64_t groups = 1);
EBB_API Variable conv3d(const Variable& input, const Variable& weight, const optional<Variable>& bias,
                        IntArrayRef stride, ConvPadding padding, IntArrayRef dilation = 1,
                        std::int64_t groups = 1);

/// Transposed convolution: for each input position q, adds weight[c, o, k] * input[n, c, q] to the output at
/// position stride * q + dilation * k - padding (torch.nn.functional.conv_transpose1d). Output length: (in -
/// 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1. output_padding must be smaller
/// than stride or dilation.
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

/// Calls one of the functions above, selected by the weight's number of dimensions (torch.convolution).
EBB_API Variable convolution(const Variable& input, const Variable& weight, const optional<Variable>& bias,
                             IntArrayRef stride, IntArrayRef padding, IntArrayRef dilation, bool transposed,
                             IntArrayRef output_padding, std::int64_t groups);

/// relu(conv(input, weight, bias)), with the convolution selected by the weight's number of dimensions. On a
/// GPU the two ops run in one pass. The function is torch.cudnn_convolution_relu, but works on every device
/// and is differentiable. Only the result is saved for the derivative of relu.
EBB_API Variable convolution_relu(const Variable& input, const Variable& weight,
                                  const optional<Variable>& bias = {}, IntArrayRef stride = 1,
                                  IntArrayRef padding = 0, IntArrayRef dilation = 1, std::int64_t groups = 1);

/// Convolves a sequence (T, B, C_in) like conv1d, with weight (kernel, C_in, C_out), bias (C_out) and `pad`
/// zeros at both ends. The result is (T', B, C_out). (torch.conv_tbc)
EBB_API Variable conv_tbc(const Variable& self, const Variable& weight, const Variable& bias,
                          std::int64_t pad = 0);

/// Computes conv3d of self (N, C, D, H, W) with one group for each channel. The weight has the shape
/// (C * m, 1, kernel...), so that each channel gives m output channels. (torch.ops.aten.conv_depthwise3d)
EBB_API Variable conv_depthwise3d(const Variable& self, const Variable& weight, IntArrayRef kernel_size,
                                  const optional<Variable>& bias, IntArrayRef stride, IntArrayRef padding,
                                  IntArrayRef dilation);

}  // namespace ebb
